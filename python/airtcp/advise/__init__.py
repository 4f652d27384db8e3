"""From a path to an answer: what to use on it, what that needs and risks, and where the answer would change.

advice = airtcp.advise(airtcp.Scenario.load("scenarios/wifi.toml"), control=["sender"])
print(advice)
"""
