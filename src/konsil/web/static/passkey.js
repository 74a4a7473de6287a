// Registering a passkey, or signing in with it; the server says which.
const button = document.getElementById("passkey");
const fault = document.getElementById("fault");
const present = document.getElementById("present");

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

async function post(url, message) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json", "x-csrf-token": button.dataset.csrf },
    body: JSON.stringify(message),
  });
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

function described(list) {
  return (list || []).map((one) => ({ ...one, id: bytes(one.id) }));
}

async function answer(mode, options) {
  options.challenge = bytes(options.challenge);
  if (mode === "create") {
    options.user.id = bytes(options.user.id);
    options.excludeCredentials = described(options.excludeCredentials);
    const made = await navigator.credentials.create({ publicKey: options });
    return [made, { attestationObject: text(made.response.attestationObject) }];
  }
  options.allowCredentials = described(options.allowCredentials);
  const made = await navigator.credentials.get({ publicKey: options });
  const signed = { authenticatorData: text(made.response.authenticatorData), signature: text(made.response.signature) };
  if (made.response.userHandle) signed.userHandle = text(made.response.userHandle);
  return [made, signed];
}

button.addEventListener("click", async () => {
  fault.hidden = present.hidden = true;
  button.disabled = true;
  try {
    const { mode, options, ticket } = await post(button.dataset.begin, {});
    const [made, response] = await answer(mode, options);
    response.clientDataJSON = text(made.response.clientDataJSON);
    const credential = { id: made.id, rawId: text(made.rawId), type: made.type, response };
    const { location: next } = await post(button.dataset.end, { credential, ticket });
    location.assign(next);
  } catch (error) {
    // A device refuses a second passkey for the same account by this name.
    (error.name === "InvalidStateError" ? present : fault).hidden = false;
    button.disabled = false;
  }
});
