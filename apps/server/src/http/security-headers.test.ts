import { expect, it } from 'vitest'
import { contentSecurityPolicy } from './security-headers.ts'

const directives = (policy: string) =>
  new Map(
    policy.split('; ').map((part) => {
      const [name = '', ...sources] = part.split(' ')
      return [name, sources] as const
    }),
  )

it('the content security policy allows scripts and frames of the configured captcha, and no others', () => {
  const plain = directives(contentSecurityPolicy('https://crux.example.com'))
  const captcha = ['https://captcha.example.com', 'https://*.frames.example.com']
  const widened = directives(contentSecurityPolicy('https://crux.example.com', { captcha }))
  expect(plain.has('frame-src')).toBe(false)
  expect(widened.get('script-src')).toEqual(["'self'", ...captcha])
  expect(widened.get('frame-src')).toEqual(captcha)
  for (const [name, sources] of plain) if (name !== 'script-src') expect(widened.get(name)).toEqual(sources)
})

it('the content security policy allows connections to the configured analytics, and no script of it', () => {
  const plain = directives(contentSecurityPolicy('https://crux.example.com'))
  const analytics = 'https://analytics.example.com'
  const widened = directives(contentSecurityPolicy('https://crux.example.com', { analytics }))
  expect(plain.get('connect-src')).toEqual(["'self'", 'wss://crux.example.com'])
  expect(widened.get('connect-src')).toEqual(["'self'", 'wss://crux.example.com', analytics])
  for (const [name, sources] of plain) if (name !== 'connect-src') expect(widened.get(name)).toEqual(sources)
})
