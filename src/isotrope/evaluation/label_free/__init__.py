"""Is one encoder better than another on a text, told without labels?"""
