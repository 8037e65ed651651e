//! cos-agent forwarding: what each principal tells goes to peers, the leader gathers it and hands it on.
