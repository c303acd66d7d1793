import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { RelyingParty } from './relying-party.ts'
import type { StoredKey } from './stored-keys.ts'

/** The COSE algorithm numbers of keys, the most common first: ECDSA, RSA, RSA-PSS, EdDSA. */
const algorithms = [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8]
const timeoutMs = { passkey: 5 * 60_000, securityKey: 2 * 60_000 }

/** The options for the browser, as the JSON of a node's value, and the challenge that its answer must contain. */
export interface Question {
  options: { publicKey: object }
  challenge: string
}

/**
 * Creates the options for a new key.
 *
 * @param about.passkey a discoverable key that signs in without a name; otherwise a second factor
 * @param about.known keys that are excluded because they are registered already
 */
export function askForNewKey(
  party: RelyingParty,
  about: { userHandle: Buffer; userName: string; known: readonly StoredKey[]; passkey: boolean },
): Question {
  const challenge = newChallenge()
  const publicKey = {
    rp: { id: party.id, name: party.name },
    user: { id: about.userHandle.toString('base64url'), name: about.userName, displayName: about.userName },
    challenge,
    pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' })),
    timeout: about.passkey ? timeoutMs.passkey : timeoutMs.securityKey,
    ...(about.known.length === 0 ? {} : { excludeCredentials: about.known.map(descriptor) }),
    // All kinds of authenticators are accepted: this computer, a phone, a key.
    authenticatorSelection: about.passkey
      ? { requireResidentKey: true, residentKey: 'required', userVerification: 'preferred' }
      : { userVerification: 'discouraged' },
  }
  return { options: { publicKey }, challenge }
}

/** Creates the options to prove the possession of one of `keys`, or of any passkey when `keys` is empty. */
export function askForProof(party: RelyingParty, about: { keys: readonly StoredKey[]; passkey: boolean }): Question {
  const challenge = newChallenge()
  const publicKey = {
    challenge,
    timeout: about.passkey ? timeoutMs.passkey : timeoutMs.securityKey,
    rpId: party.id,
    ...(about.keys.length === 0 ? {} : { allowCredentials: about.keys.map(descriptor) }),
    userVerification: about.passkey ? 'preferred' : 'discouraged',
  }
  return { options: { publicKey }, challenge }
}

const newChallenge = () => randomBytes(32).toString('base64url')
const descriptor = ({ id, transports }: StoredKey) => ({ id, transports, type: 'public-key' })

const base64url = z
  .string()
  .max(32_768)
  .regex(/^[\w-]+={0,2}$/)
const transports = z.array(z.string().max(32)).max(16)

const NewKeyAnswer = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({
    attestationObject: base64url,
    clientDataJSON: base64url,
    transports: transports.optional().catch(undefined),
  }),
})

const ProofAnswer = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({
    authenticatorData: base64url,
    clientDataJSON: base64url,
    signature: base64url,
    // Keys that are not passkeys have no handle; some scripts then send an empty text or null.
    userHandle: z.string().max(512).nullish(),
  }),
})

export type Proof = z.output<typeof ProofAnswer>

/** Parses the answer of the browser, undefined when it is malformed. */
export function readProof(text: string): Proof | undefined {
  return parse(ProofAnswer, text)
}

/** Whether the text has the form of an answer to `askForNewKey`, before it is verified. */
export function isNewKey(text: string): boolean {
  return parse(NewKeyAnswer, text) !== undefined
}

// The library that verifies answers takes 27 MB of memory, so it is loaded with the first answer.

/** Verifies the answer and returns its key, undefined when the answer is not valid. */
export async function acceptNewKey(
  party: RelyingParty,
  text: string,
  challenge: string,
): Promise<Omit<StoredKey, 'name'> | undefined> {
  const answer = parse(NewKeyAnswer, text)
  if (!answer) return undefined
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const result = await verifyRegistrationResponse({
    response: { ...answer, response: { ...answer.response }, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: party.origins,
    expectedRPID: party.id,
    requireUserVerification: false,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => undefined)
  if (!result?.verified) return undefined
  const { credential } = result.registrationInfo
  return {
    id: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    transports: answer.response.transports ?? [],
    addedAt: new Date().toISOString(),
  }
}

/**
 * Verifies the answer and returns the new counter of the key, undefined when the answer is not valid. A counter that decreased belongs to a copied
 * key.
 */
export async function acceptProof(
  party: RelyingParty,
  answer: Proof,
  challenge: string,
  key: StoredKey,
): Promise<number | undefined> {
  const { userHandle, ...response } = answer.response
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const result = await verifyAuthenticationResponse({
    response: {
      ...answer,
      response: userHandle ? { ...response, userHandle } : response,
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: party.origins,
    expectedRPID: party.id,
    requireUserVerification: false,
    credential: {
      id: key.id,
      publicKey: new Uint8Array(Buffer.from(key.publicKey, 'base64url')),
      counter: key.counter,
    },
  }).catch(() => undefined)
  return result?.verified ? result.authenticationInfo.newCounter : undefined
}

function parse<T extends z.ZodType>(schema: T, text: string): z.output<T> | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
