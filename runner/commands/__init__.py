"""The invoke tasks that measure money, serving and endpoints, by subject; tasks.py holds the others."""
