//! Models of the queue beside calls that come and go. What is checked is what cannot be seen in any one order of events:
//! that no slot and no call to take one gets lost between two threads.
