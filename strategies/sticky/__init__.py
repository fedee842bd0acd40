"""The strategy that moves little: each queue stays where it is unless balance asks for a move."""
