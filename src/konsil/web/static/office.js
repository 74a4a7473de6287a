// Copying a letter; without this module the text is marked and copied by hand.
for (const button of document.querySelectorAll("button.copy")) {
  const text = document.getElementById(button.dataset.copy);
  if (!text || !navigator.clipboard) continue;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.value);
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
