import { getField } from '@crux/service-kit'
import { z } from 'zod'
import { secureUrl } from './setting-types.ts'

const url = secureUrl.optional()

/** The settings of the captcha, in the form that Turnstile, hCaptcha and reCAPTCHA share. It is off when they are absent. */
export const captchaSettings = {
  CAPTCHA_VERIFY_URL: url.meta({ example: 'https://challenges.cloudflare.com/turnstile/v0/siteverify' }),
  CAPTCHA_SCRIPT_URL: url.meta({ example: 'https://challenges.cloudflare.com/turnstile/v0/api.js' }),
  CAPTCHA_SITE_KEY: z.string().min(1).max(500).optional().meta({ example: '1x00000000000000000000AA' }),
  CAPTCHA_SECRET_KEY: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .meta({ example: 'what the service shows beside the site key' }),
}

type CaptchaInput = { [name in keyof typeof captchaSettings]?: string | undefined }
export interface CaptchaSettings {
  verifyUrl: string
  scriptUrl: string
  siteKey: string
  secretKey: string
}

/** The reason to refuse the start when only some of the settings are present. */
export function captchaProblem(read: CaptchaInput): { variable: string; problem: string } | undefined {
  const names = Object.keys(captchaSettings)
  const missing = names.filter((name) => getField(read, name) === undefined)
  const [variable] = missing
  if (variable === undefined || missing.length === names.length) return undefined
  return { variable, problem: 'is missing: the settings of the captcha are set together or not at all' }
}

export function readCaptcha(read: CaptchaInput): CaptchaSettings | undefined {
  const { CAPTCHA_VERIFY_URL: verifyUrl, CAPTCHA_SCRIPT_URL: scriptUrl } = read
  const { CAPTCHA_SITE_KEY: siteKey, CAPTCHA_SECRET_KEY: secretKey } = read
  return verifyUrl && scriptUrl && siteKey && secretKey ? { verifyUrl, scriptUrl, siteKey, secretKey } : undefined
}
