"""What a question is: one function, whose signature gives command, method, configuration and request."""
