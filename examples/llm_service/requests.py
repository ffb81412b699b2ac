# Prints ten minutes of requests: eight a second, prompts of 200 to 3,200 tokens, answers of 20 to 320.
print("arrival_s,prompt_tokens,output_tokens")
for number in range(4800):
    print(f"{number / 8},{200 + number * 7919 % 3000},{20 + number * 104729 % 300}")
