import type { HookKind } from '@crux/contract'
import { offeredHookKinds } from '@crux/rules'
import { getField } from '@crux/service-kit'
import type { FastifyRequest } from 'fastify'
import type { App } from '../context.ts'
import type { Authentication } from './authentication.ts'
import { isEqual, isSigned, readSignature, type VerifyBody } from './hook-signature.ts'
import { type FoundHook, findHook } from './store.ts'
import { hashToken } from './token-text.ts'

type HookRequest = Pick<FastifyRequest, 'headers' | 'params'>

export interface RegistryHooks {
  /**
   * Verifies a delivery before its body is read. A service that signs the body is verified in two steps: the returned
   * function must accept the body before anything is parsed.
   *
   * @returns false when it is refused
   */
  verify(kind: HookKind, request: HookRequest): Promise<boolean | VerifyBody>
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Secrets are shorter; nothing longer is hashed. */
const secretMax = 200

export function createRegistryHooks(
  app: Pick<App, 'cipher' | 'database' | 'log'>,
  authentication: Authentication,
): RegistryHooks {
  /** A secret of a kind that the registry's type no longer offers does not count. */
  async function find(kind: HookKind, registryId: string): Promise<FoundHook | undefined> {
    if (!uuid.test(registryId)) return undefined
    const hook = await findHook(app.database.pool, registryId, kind)
    return hook && offeredHookKinds(hook).includes(kind) ? hook : undefined
  }

  function openSecret(hook: FoundHook): string | undefined {
    try {
      return app.cipher.decrypt(hook.secret ?? '', { column: 'registry_hook.secret', row: hook.id })
    } catch (err) {
      app.log.warn({ err, hookId: hook.id }, 'the secret of a hook cannot be decrypted: its deliveries are refused')
      return undefined
    }
  }

  return {
    async verify(kind, { headers, params }) {
      const registryId = String(getField(params, 'registryId'))
      if (kind === 'v2') return authentication.isRegistryHook(headers, registryId)
      if (kind === 'github') {
        const given = readSignature(headers['x-hub-signature-256'])
        const hook = given && (await find(kind, registryId))
        const secret = hook && openSecret(hook)
        return secret ? (body) => isSigned(given, secret, body) : false
      }
      const given = kind === 'hub' ? String(getField(params, 'secret')) : readHeader(headers.authorization)
      if (given.length === 0 || given.length > secretMax) return false
      const hook = await find(kind, registryId)
      return isEqual(Buffer.from(hashToken(given)), Buffer.from(hook?.hash ?? ''))
    },
  }
}

/** Harbor sends the text of its field "Auth Header" unchanged; some users write the scheme before the secret. */
const readHeader = (header: string | undefined): string => (header ?? '').trim().replace(/^bearer\s+/i, '')
