"""Fitted Q evaluation: Q̂ by regression of r + γ c V̂(s′) on (s, a), V̂(s) = Σ_a π(a|s) Q̂(s, a).

Where few different states are logged the regression is exact, a table; else Q is a network.
"""
