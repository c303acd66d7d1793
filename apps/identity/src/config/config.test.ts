import { parseConfig } from '@crux/service-kit'
import { expect, it } from 'vitest'
import { identitySettings } from './config.ts'

const required = {
  DATABASE_URL: 'postgresql://crux@localhost/crux',
  CRUX_URL: 'http://localhost:8000',
  CRUX_SECRET: 'a secret of enough characters',
  IDENTITY_ADMIN_TOKEN: 'a token of enough characters',
}

it('identity configuration needs four settings and listens on loopback', () => {
  const config = parseConfig(identitySettings, required)
  expect(config).toMatchObject({ IDENTITY_HOST: '127.0.0.1', IDENTITY_PUBLIC_PORT: 4433, IDENTITY_ADMIN_PORT: 4434 })
  expect(config).toMatchObject({ CRUX_RATE_LIMITS: 'on', DISABLE_REGISTRATION: false, TRUSTED_PROXIES: [] })
  for (const name of Object.keys(required))
    expect(() => parseConfig(identitySettings, { ...required, [name]: '' })).toThrow(name)
})

it.each([
  ['CRUX_URL', 'localhost:8000'],
  ['CRUX_URL', 'ftp://localhost'],
  ['CRUX_SECRET', 'short'],
  ['IDENTITY_ADMIN_TOKEN', 'short'],
  ['IDENTITY_PUBLIC_PORT', 'many'],
  ['IDENTITY_PUBLIC_PORT', '70000'],
  ['SMTP_URI', 'mail.example.com:25'],
  ['FROM_EMAIL', 'nobody'],
  ['CRUX_RATE_LIMITS', 'maybe'],
  ['DISABLE_REGISTRATION', 'perhaps'],
  ['TRUSTED_PROXIES', '10.0.0.0/40'],
  ['TRUSTED_PROXIES', 'proxy.example.com'],
  ['RATE_LIMIT_ACCOUNT', '0/10m'],
  ['RATE_LIMIT_CLIENT', 'many'],
  ['RATE_LIMIT_RESEND', '1/30'],
  ['RATE_LIMIT_CAPTCHA', '3'],
  ['CAPTCHA_VERIFY_URL', 'http://captcha.example.com/siteverify'],
])('identity configuration refuses %s=%s in one line that contains the name and not the value', (name, value) => {
  const parse = () => parseConfig(identitySettings, { ...required, [name]: value })
  expect(parse).toThrow(new RegExp(`^${name} [^\\n]*example[^\\n]*$`))
})

it('identity configuration reads addresses without a trailing slash and lists of proxies', () => {
  const config = parseConfig(identitySettings, {
    ...required,
    CRUX_URL: 'https://crux.example.com/',
    TRUSTED_PROXIES: '10.0.0.5, fd00::/8 uniquelocal',
  })
  expect(config.CRUX_URL).toBe('https://crux.example.com')
  expect(config.TRUSTED_PROXIES).toEqual(['10.0.0.5', 'fd00::/8', 'uniquelocal'])
})

it('identity configuration turns limits off only while everything listens on loopback', () => {
  const parse = (env: Record<string, string>) =>
    parseConfig(identitySettings, { ...required, CRUX_RATE_LIMITS: 'off', ...env })
  expect(parse({ IDENTITY_HOST: '::1' }).CRUX_RATE_LIMITS).toBe('off')
  for (const [name, value] of [
    ['IDENTITY_HOST', '0.0.0.0'],
    ['CRUX_URL', 'https://crux.example.com'],
  ] as const)
    expect(() => parse({ [name]: value })).toThrow(
      /^CRUX_RATE_LIMITS is not valid: it may be off only while [^\n]* loopback/,
    )
})

it('identity configuration has documented default limits, and reads limits as a count and a duration', () => {
  expect(parseConfig(identitySettings, required)).toMatchObject({
    RATE_LIMIT_ACCOUNT: { max: 10, windowSeconds: 600 },
    RATE_LIMIT_CLIENT: { max: 100, windowSeconds: 600 },
    RATE_LIMIT_RESEND: { max: 1, windowSeconds: 30 },
    RATE_LIMIT_MAILS: { max: 30, windowSeconds: 3600 },
  })
  const { RATE_LIMIT_ACCOUNT } = parseConfig(identitySettings, { ...required, RATE_LIMIT_ACCOUNT: '3/2h' })
  expect(RATE_LIMIT_ACCOUNT).toEqual({ max: 3, windowSeconds: 7200 })
})

it('identity configuration requires the captcha settings together or not at all', () => {
  const captcha = {
    CAPTCHA_VERIFY_URL: 'https://captcha.example.com/siteverify',
    CAPTCHA_SCRIPT_URL: 'https://captcha.example.com/api.js',
    CAPTCHA_SITE_KEY: 'a key',
    CAPTCHA_SECRET_KEY: 'a secret',
  }
  expect(parseConfig(identitySettings, { ...required, ...captcha })).toMatchObject(captcha)
  for (const name of Object.keys(captcha))
    expect(() => parseConfig(identitySettings, { ...required, ...captcha, [name]: '' })).toThrow(
      new RegExp(`^${name} [^\\n]*(missing|together)[^\\n]*example[^\\n]*$`),
    )
})
