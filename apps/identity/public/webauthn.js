// The functions of the buttons of security keys and passkeys: they call the browser, put its answer into the form and submit it. Pages that render a
// flow load this file from the flow's script node; it needs neither inline scripts nor eval. The block keeps
// everything but the named functions from the page, also when a page loads the file twice.
{
  const field = (name) => document.getElementsByName(name)[0]
  let waiting

  const toBytes = (text) => {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(binary, (letter) => letter.charCodeAt(0))
  }

  const toText = (bytes) => {
    if (!bytes) return undefined
    const binary = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('')
    return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  }

  const withIds = (list) => list?.map((entry) => ({ ...entry, id: toBytes(entry.id) }))

  const creation = ({ publicKey }) => {
    return {
      ...publicKey,
      challenge: toBytes(publicKey.challenge),
      user: { ...publicKey.user, id: toBytes(publicKey.user.id) },
      excludeCredentials: withIds(publicKey.excludeCredentials) ?? [],
    }
  }

  const request = ({ publicKey }) => {
    return {
      ...publicKey,
      challenge: toBytes(publicKey.challenge),
      allowCredentials: withIds(publicKey.allowCredentials) ?? [],
    }
  }

  const answer = (credential) => {
    const { response } = credential
    const created = 'attestationObject' in response
    return JSON.stringify({
      id: credential.id,
      rawId: toText(credential.rawId),
      type: credential.type,
      response: {
        clientDataJSON: toText(response.clientDataJSON),
        ...(created
          ? { attestationObject: toText(response.attestationObject), transports: response.getTransports?.() ?? [] }
          : {
              authenticatorData: toText(response.authenticatorData),
              signature: toText(response.signature),
              userHandle: toText(response.userHandle),
            }),
      },
    })
  }

  /** A page that listens for the submit may send it itself; the other inputs of the form may be empty. */
  const submit = (input, credential) => {
    input.value = answer(credential)
    input.dispatchEvent(new Event('input', { bubbles: true }))
    const form = input.closest('form')
    if (form.dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }))) form.submit()
  }

  /** Pages may show the error; a user who cancels has caused none. */
  const fail = (input, error) => {
    if (error?.name === 'AbortError') return
    const event = new CustomEvent('crux:webauthn-error', { bubbles: true, detail: error })
    ;(input ?? document).dispatchEvent(event)
  }

  const run = async (input, ask) => {
    try {
      if (!window.PublicKeyCredential) throw new Error('This browser knows neither security keys nor passkeys.')
      waiting?.abort()
      waiting = undefined
      submit(input, await ask())
    } catch (error) {
      fail(input, error)
    }
  }

  const create = (input, options) => run(input, () => navigator.credentials.create({ publicKey: creation(options) }))
  const get = (input, options) => run(input, () => navigator.credentials.get({ publicKey: request(options) }))

  const oryWebAuthnLogin = (options) => {
    return get(field('webauthn_login'), options ?? JSON.parse(field('webauthn_login_trigger').value))
  }

  const oryWebAuthnRegistration = (options) => {
    return create(field('webauthn_register'), options ?? JSON.parse(field('webauthn_register_trigger').value))
  }

  const oryPasskeyLogin = () => {
    return get(field('passkey_login'), JSON.parse(field('passkey_challenge').value))
  }

  /** Offers passkeys where the browser autocompletes the identifier. */
  const oryPasskeyLoginAutocompleteInit = async () => {
    const input = field('passkey_login')
    const challenge = field('passkey_challenge')
    if (!input || !challenge || !field('identifier')) return
    if (!(await window.PublicKeyCredential?.isConditionalMediationAvailable?.())) return
    waiting?.abort()
    waiting = new AbortController()
    const { signal } = waiting
    try {
      const publicKey = request(JSON.parse(challenge.value))
      submit(input, await navigator.credentials.get({ publicKey, mediation: 'conditional', signal }))
    } catch (error) {
      if (!signal.aborted) fail(input, error)
    }
  }

  const oryPasskeyRegistration = () => {
    const { credentialOptions, displayNameFieldName } = JSON.parse(field('passkey_create_data').value)
    const name = field(displayNameFieldName)?.value
    const { publicKey } = credentialOptions
    const user = name ? { ...publicKey.user, name, displayName: name } : publicKey.user
    return create(field('passkey_register'), { publicKey: { ...publicKey, user } })
  }

  const oryPasskeySettingsRegistration = () => {
    return create(field('passkey_settings_register'), JSON.parse(field('passkey_create_data').value))
  }

  const functions = {
    oryWebAuthnLogin,
    oryWebAuthnRegistration,
    oryPasskeyLogin,
    oryPasskeyLoginAutocompleteInit,
    oryPasskeyRegistration,
    oryPasskeySettingsRegistration,
  }
  // Pages for older versions of Ory Kratos use the names with two underscores.
  for (const [name, run] of Object.entries(functions)) {
    window[name] = run
    window[`__${name}`] = run
  }
}
