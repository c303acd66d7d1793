import { describe, expect, it } from 'vitest'
import { generateKey } from '../crypto/cipher.ts'
import { readConfig } from './config.ts'

const required = { DATABASE_URL: 'postgresql://crux@localhost/crux', ENCRYPTION_SECRET_KEY: generateKey() }

describe('CRUX_RATE_LIMITS=off', () => {
  it.each([{}, { CRUX_HOST: '::1' }, { CRUX_HOST: 'localhost', CRUX_URL: 'http://127.0.0.1:8000' }])(
    'is accepted while everything listens on loopback: %j',
    (env) => {
      expect(readConfig({ ...required, ...env, CRUX_RATE_LIMITS: 'off' }).rateLimits).toBe(false)
      expect(readConfig({ ...required, ...env }).rateLimits).toBe(true)
    },
  )

  it.each([
    { CRUX_HOST: '0.0.0.0' },
    { CRUX_HOST: '::' },
    { CRUX_HOST: '192.168.1.5', CRUX_URL: 'http://localhost:8000' },
    { CRUX_URL: 'https://crux.example.com' },
  ])('stops the process with one line otherwise: %j', (env) => {
    expect(() => readConfig({ ...required, ...env, CRUX_RATE_LIMITS: 'off' })).toThrow(
      /^CRUX_RATE_LIMITS is not valid: it may be off only while [^\n]* loopback[^\n]*$/,
    )
  })
})

describe('AUDIT_RETENTION_DAYS', () => {
  it('is a year by default, and 0 keeps entries forever', () => {
    expect(readConfig(required).auditRetentionDays).toBe(365)
    expect(readConfig({ ...required, AUDIT_RETENTION_DAYS: '0' }).auditRetentionDays).toBe(0)
  })

  it.each(['-1', 'many', '1.5', '99999'])('refuses %s', (value) => {
    expect(() => readConfig({ ...required, AUDIT_RETENTION_DAYS: value })).toThrow(/^AUDIT_RETENTION_DAYS is not valid/)
  })
})

describe('EVENT_RETENTION_DAYS', () => {
  it('is 90 days by default, and 0 keeps all events', () => {
    expect(readConfig(required).eventRetentionDays).toBe(90)
    expect(readConfig({ ...required, EVENT_RETENTION_DAYS: '0' }).eventRetentionDays).toBe(0)
    expect(() => readConfig({ ...required, EVENT_RETENTION_DAYS: '-1' })).toThrow(/^EVENT_RETENTION_DAYS is not valid/)
  })
})

describe('CAPTCHA_ORIGINS', () => {
  const captcha = { ...required, CAPTCHA_SCRIPT_URL: 'https://captcha.example.com/v1/api.js?x=1' }

  it("adds origins to that of the captcha's script, and is ignored without it", () => {
    expect(readConfig(required).captchaOrigins).toEqual([])
    expect(readConfig({ ...required, CAPTCHA_ORIGINS: 'https://b.example.com' }).captchaOrigins).toEqual([])
    expect(readConfig({ ...captcha, CAPTCHA_ORIGINS: 'https://*.b.example.com, http://c:81' }).captchaOrigins).toEqual([
      'https://captcha.example.com',
      'https://*.b.example.com',
      'http://c:81',
    ])
  })

  it.each(['*', "https://a.example.com 'unsafe-inline'", 'https://a.example.com; default-src *', 'data:'])(
    'refuses %s',
    (CAPTCHA_ORIGINS) => {
      expect(() => readConfig({ ...captcha, CAPTCHA_ORIGINS })).toThrow(/^CAPTCHA_ORIGINS is not valid/)
    },
  )
})

it.each([
  ['CRUX_TLS_KEY', { CRUX_TLS_CERT: 'a certificate' }],
  ['CRUX_TLS_CERT', { CRUX_TLS_KEY: 'a key' }],
  ['ANALYTICS_HOST', { ANALYTICS_KEY: 'phc_some' }],
  ['ANALYTICS_KEY', { ANALYTICS_HOST: 'https://analytics.example.com' }],
  ['ANALYTICS_KEY', { ANALYTICS_KEY: 'phc some', ANALYTICS_HOST: 'https://analytics.example.com' }],
  ['ANALYTICS_HOST', { ANALYTICS_KEY: 'phc_some', ANALYTICS_HOST: 'analytics.example.com' }],
  ['ANALYTICS_HOST', { ANALYTICS_KEY: 'phc_some', ANALYTICS_HOST: 'https://*.example.com' }],
  ['ANALYTICS_HOST', { ANALYTICS_KEY: 'phc_some', ANALYTICS_HOST: 'https://a.example.com/path' }],
  ['ANALYTICS_HOST', { ANALYTICS_KEY: 'phc_some', ANALYTICS_HOST: 'https://a.example.com; script-src *' }],
  ['TRUSTED_PROXIES', { TRUSTED_PROXIES: 'proxy.example.com' }],
  ['OUTBOUND_ALLOW', { OUTBOUND_ALLOW: '10.0.0.0/40' }],
  ['OUTBOUND_ALLOW', { OUTBOUND_ALLOW: 'everything' }],
])('the server stops with one line that names %s for %j', (name, env) => {
  expect(() => readConfig({ ...required, ...env })).toThrow(new RegExp(`^${name} [^\\n]*example[^\\n]*$`))
})

it('the server reads lists of networks with commas or spaces, as the identity service does', () => {
  const config = readConfig({
    ...required,
    TRUSTED_PROXIES: '10.0.0.5, fd00::/8 uniquelocal',
    OUTBOUND_ALLOW: '10.0.0.0/8 192.168.1.5',
  })
  expect(config.trustedProxies).toEqual(['10.0.0.5', 'fd00::/8', 'uniquelocal'])
  expect(config.outboundAllow).toEqual(['10.0.0.0/8', '192.168.1.5'])
})
