import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { z } from 'zod'
import type { RelyingParty } from './relying-party.ts'
import type { StoredKey } from './stored-keys.ts'

/** COSE's numbers of what keys may sign with, the most common first: ECDSA, RSA, RSA-PSS, EdDSA. */
const algorithms = [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8]
const timeoutMs = { passkey: 5 * 60_000, securityKey: 2 * 60_000 }

/** What a browser is asked, as the JSON of a node's value, and the challenge that its answer must hold. */
export interface Question {
  options: { publicKey: object }
  challenge: string
}

/**
 * Asks for a new key.
 *
 * @param about.passkey a key that is found without a name and signs in alone; else one that only confirms
 * @param about.known keys that need not be added again
 */
export async function askForNewKey(
  party: RelyingParty,
  about: { userHandle: Buffer; userName: string; known: readonly StoredKey[]; passkey: boolean },
): Promise<Question> {
  const { rp, user, challenge, pubKeyCredParams, timeout, excludeCredentials } = await generateRegistrationOptions({
    rpName: party.name,
    rpID: party.id,
    userName: about.userName,
    userDisplayName: about.userName,
    userID: new Uint8Array(about.userHandle),
    timeout: about.passkey ? timeoutMs.passkey : timeoutMs.securityKey,
    excludeCredentials: about.known.map(({ id, transports }) => ({ id, transports })),
    supportedAlgorithmIDs: algorithms,
  })
  // Any kind of authenticator will do: this computer, a phone, a key.
  const authenticatorSelection = about.passkey
    ? { requireResidentKey: true, residentKey: 'required', userVerification: 'preferred' }
    : { userVerification: 'discouraged' }
  const publicKey = { rp, user, challenge, pubKeyCredParams, timeout, authenticatorSelection }
  if (about.known.length === 0) return { options: { publicKey }, challenge }
  return { options: { publicKey: { ...publicKey, excludeCredentials } }, challenge }
}

/** Asks to prove the possession of a key: one of `keys`, or any passkey when there are none. */
export async function askForProof(
  party: RelyingParty,
  about: { keys: readonly StoredKey[]; passkey: boolean },
): Promise<Question> {
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    timeout: about.passkey ? timeoutMs.passkey : timeoutMs.securityKey,
    ...(about.keys.length === 0
      ? {}
      : { allowCredentials: about.keys.map(({ id, transports }) => ({ id, transports })) }),
    userVerification: about.passkey ? 'preferred' : 'discouraged',
  })
  return { options: { publicKey: options }, challenge: options.challenge }
}

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
    // Keys that are no passkeys hold none; some scripts then send an empty text or null.
    userHandle: z.string().max(512).nullish(),
  }),
})

export type Proof = z.output<typeof ProofAnswer>

/** What the browser's answer says, undefined when it is none. */
export function readProof(text: string): Proof | undefined {
  return parse(ProofAnswer, text)
}

/** Whether the text is the answer to `askForNewKey` at all, before anything of it is believed. */
export function isNewKey(text: string): boolean {
  return parse(NewKeyAnswer, text) !== undefined
}

/** The key that an answer brings, undefined when the answer is not right. */
export async function acceptNewKey(
  party: RelyingParty,
  text: string,
  challenge: string,
): Promise<Omit<StoredKey, 'name'> | undefined> {
  const answer = parse(NewKeyAnswer, text)
  if (!answer) return undefined
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

/** The key's counter after a right answer, undefined after a wrong one. A counter that went back is a copied key. */
export async function acceptProof(
  party: RelyingParty,
  answer: Proof,
  challenge: string,
  key: StoredKey,
): Promise<number | undefined> {
  const { userHandle, ...response } = answer.response
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
