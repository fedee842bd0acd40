"""What operators set for a group: each rule's value, its checks, and the rules in force."""
