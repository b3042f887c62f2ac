SELECT error('a
b')