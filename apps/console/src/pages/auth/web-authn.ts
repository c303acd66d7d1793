import { ApiError } from '@crux/client'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import i18n from 'i18next'
import { loadChunk } from '../../loading/load-chunk.ts'

export const hasWebAuthn = (): boolean => typeof globalThis.PublicKeyCredential === 'function'

/** Loaded when a key is used, because most visits do not need it. */
const library = () => loadChunk(() => import('@simplewebauthn/browser'))

/**
 * Proves a key or passkey to the options of a flow's node.
 *
 * @returns what the flow's field takes, as JSON
 * @throws ApiError with a text for users, also if they decline
 */
export async function proveKey(options: string): Promise<string> {
  const { publicKey } = JSON.parse(options) as { publicKey: PublicKeyCredentialRequestOptionsJSON }
  return askBrowser(async () => (await library()).startAuthentication({ optionsJSON: publicKey }))
}

/** Creates a key or passkey. `account` is its name in password managers. */
export async function makeKey(options: string, account?: string): Promise<string> {
  const { publicKey } = JSON.parse(options) as { publicKey: PublicKeyCredentialCreationOptionsJSON }
  const user = account ? { ...publicKey.user, name: account, displayName: account } : publicKey.user
  return askBrowser(async () => (await library()).startRegistration({ optionsJSON: { ...publicKey, user } }))
}

async function askBrowser(ask: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await ask())
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : ''
    const text =
      name === 'InvalidStateError'
        ? i18n.t('auth:key.known')
        : name === 'NotAllowedError' || name === 'AbortError'
          ? i18n.t('auth:key.notUsed')
          : i18n.t('auth:key.failed')
    throw new ApiError({ status: 400, error: 'webauthn', description: text }, { cause })
  }
}
