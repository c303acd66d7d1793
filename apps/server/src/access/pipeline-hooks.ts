import type { PipelineType } from '@crux/contract'
import { getField, isUuid } from '@crux/service-kit'
import type { FastifyRequest } from 'fastify'
import type { App } from '../context.ts'
import { isEqual, isSigned, readSignature, type VerifyBody } from './hook-signature.ts'
import { findPipelineHook } from './store.ts'
import { hashToken } from './token-text.ts'

type HookRequest = Pick<FastifyRequest, 'headers' | 'params'>

export interface PipelineHooks {
  /**
   * Verifies a delivery before its body is read. GitHub signs the body: the returned function must accept it before
   * anything is parsed.
   *
   * @returns false when it is refused
   */
  verify(type: PipelineType, request: HookRequest): Promise<boolean | VerifyBody>
}

/** Secrets are shorter; nothing longer is compared. */
const secretMax = 200

/** The secret of a hook is of one pipeline and of one type: a delivery proves nothing about others. */
export function createPipelineHooks(app: Pick<App, 'cipher' | 'database' | 'log'>): PipelineHooks {
  async function findSecret(type: PipelineType, pipelineId: string): Promise<string | undefined> {
    if (!isUuid(pipelineId)) return undefined
    const sealed = await findPipelineHook(app.database.pool, pipelineId, type)
    if (sealed === undefined) return undefined
    try {
      return app.cipher.decrypt(sealed, { column: 'pipeline_hook.secret', row: pipelineId })
    } catch (err) {
      app.log.warn({ err, pipelineId }, 'the secret of a hook cannot be decrypted: its deliveries are refused')
      return undefined
    }
  }

  return {
    async verify(type, { headers, params }) {
      const pipelineId = String(getField(params, 'pipelineId')).toLowerCase()
      if (type === 'github') {
        const given = readSignature(headers['x-hub-signature-256'])
        const secret = given && (await findSecret(type, pipelineId))
        return secret && given ? (body) => isSigned(given, secret, body) : false
      }
      const given = type === 'gitlab' ? String(headers['x-gitlab-token'] ?? '') : readSecret(headers.authorization)
      if (given.length === 0 || given.length > secretMax) return false
      const secret = await findSecret(type, pipelineId)
      // Hashes have one length, so that the comparison does not reveal that of the secret.
      return secret !== undefined && isEqual(Buffer.from(hashToken(given)), Buffer.from(hashToken(secret)))
    },
  }
}

/** Azure DevOps sends what the hook was created with: a bearer token, or the password of basic authentication. */
function readSecret(header: string | undefined): string {
  const [scheme = '', credential = ''] = (header ?? '')
    .slice(0, 2 * secretMax)
    .trim()
    .split(/\s+/)
  if (/^bearer$/i.test(scheme)) return credential
  if (!/^basic$/i.test(scheme)) return ''
  const text = Buffer.from(credential, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}
