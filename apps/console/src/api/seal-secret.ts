/**
 * A secret's value as it leaves the browser: an OpenPGP message that only the node can decrypt. openpgp is loaded when a user saves
 * the first value.
 *
 * @param publicKey the node's, armoured
 */
export async function sealSecret(publicKey: string, text: string): Promise<string> {
  const { createMessage, encrypt, readKey } = await import('openpgp/lightweight')
  const encryptionKeys = await readKey({ armoredKey: publicKey })
  return encrypt({ message: await createMessage({ text }), encryptionKeys })
}
