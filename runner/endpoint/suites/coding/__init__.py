"""Coding: small repositories in memory, an agent with tools on them, and checks that it never sees."""
