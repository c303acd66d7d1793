import type { PrivateKey } from 'openpgp'
import type { Records } from '../state/agent-state.ts'

/** The node's OpenPGP key: browsers encrypt values with the public part, and only this node can read them. */
export interface NodeKey {
  publicKey: string
  /** @throws when the message was encrypted for another key */
  decrypt(message: string): Promise<string>
}

/**
 * Reads the stored key pair, or creates one. openpgp needs several megabytes and is loaded only when it is needed: at the first
 * start and for the first secret.
 */
export async function openNodeKey(records: Records): Promise<NodeKey> {
  const stored = await records.read('secret.key')
  const storedPublic = stored === undefined ? undefined : await records.read('public.key')
  const pair =
    stored !== undefined && storedPublic !== undefined
      ? { privateKey: stored, publicKey: storedPublic }
      : await makePair(stored)
  if (stored === undefined) await records.write('secret.key', pair.privateKey)
  if (storedPublic === undefined) await records.write('public.key', pair.publicKey)
  let opener: Promise<PrivateKey> | undefined
  return {
    publicKey: pair.publicKey,
    async decrypt(message) {
      const openpgp = await import('openpgp')
      opener ??= openpgp.readPrivateKey({ armoredKey: pair.privateKey })
      const { data } = await openpgp.decrypt({
        message: await openpgp.readMessage({ armoredMessage: message }),
        decryptionKeys: await opener,
      })
      return data
    },
  }
}

async function makePair(privateKey: string | undefined): Promise<{ privateKey: string; publicKey: string }> {
  const openpgp = await import('openpgp')
  if (privateKey !== undefined) {
    const key = await openpgp.readPrivateKey({ armoredKey: privateKey })
    return { privateKey, publicKey: key.toPublic().armor() }
  }
  return openpgp.generateKey({
    type: 'ecc',
    curve: 'curve25519Legacy',
    userIDs: [{ name: 'Crux agent' }],
    format: 'armored',
  })
}
