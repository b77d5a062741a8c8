"""Settings hold what the user asks for; one field is one flag."""
