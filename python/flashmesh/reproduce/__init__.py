"""Published figures beside measured ones: what each paper claims, what the simulator gives, and a computed verdict."""
