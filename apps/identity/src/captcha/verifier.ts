import { createOutbound, isLoopbackUrl, type Logger } from '@crux/service-kit'
import type { Captcha } from '../app/services.ts'
import { readCaptcha } from '../config/captcha.ts'
import type { IdentityConfig } from '../config/config.ts'

const verifyMs = 5_000
const answerBytesMax = 64 * 1024

/**
 * Verifies with the captcha service that a browser has passed the check, by the protocol that the services share.
 * https://developers.cloudflare.com/turnstile/get-started/server-side-validation/
 *
 * @returns undefined when no captcha is configured
 */
export function createCaptcha(config: IdentityConfig, log: Logger): Captcha | undefined {
  const settings = readCaptcha(config)
  if (!settings) return undefined
  const allow = config.OUTBOUND_ALLOW ?? (isLoopbackUrl(config.CRUX_URL) ? ['private'] : [])
  const refusedPorts = [config.IDENTITY_PUBLIC_PORT, config.IDENTITY_ADMIN_PORT]
  const outbound = createOutbound({ allow: allow.includes('private') ? 'private' : allow, refusedPorts, log })
  const { siteKey, scriptUrl, verifyUrl, secretKey: secret } = settings
  return {
    siteKey,
    scriptUrl,
    async verify(response, remoteip) {
      try {
        const { status, body } = await outbound.request(verifyUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
          body: new URLSearchParams({ secret, response, remoteip }).toString(),
          timeoutMs: verifyMs,
          maxBytes: answerBytesMax,
        })
        const answer: { success?: unknown; 'error-codes'?: unknown } | null = JSON.parse(body.toString('utf8'))
        if (status >= 500 || typeof answer?.success !== 'boolean') throw new Error(`status ${status}, no verdict`)
        if (answer.success) return 'right'
        const codes = Array.isArray(answer['error-codes']) ? answer['error-codes'].map(String) : []
        if (!codes.some((code) => /secret/.test(code))) return 'wrong'
        throw new Error(`it refuses CAPTCHA_SECRET_KEY: ${codes.join(', ').slice(0, 200)}`)
      } catch (err) {
        log.error({ err, host: new URL(verifyUrl).host }, 'the captcha could not be verified')
        return 'unavailable'
      }
    },
  }
}
