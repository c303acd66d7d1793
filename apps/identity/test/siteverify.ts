import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A verifier of captchas of our own, with the protocol that Turnstile, hCaptcha and reCAPTCHA share. */
export async function startSiteverify(secret: string) {
  const asked: Record<string, string>[] = []
  const good = new Set<string>()
  let broken: 'html' | 'error' | 'silent' | undefined
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', () => {
      const form = Object.fromEntries(new URLSearchParams(text))
      asked.push({ ...form, type: String(request.headers['content-type']), path: String(request.url) })
      if (broken === 'silent') return request.socket.destroy()
      response.statusCode = broken === 'error' ? 503 : 200
      response.setHeader('content-type', broken ? 'text/html' : 'application/json')
      if (broken) return response.end('<p>sorry</p>')
      // A token works once, as everywhere.
      const success = form.secret === secret && good.delete(form.response ?? '')
      const codes = form.secret === secret ? ['invalid-input-response'] : ['invalid-input-secret']
      response.end(JSON.stringify(success ? { success, hostname: 'localhost' } : { success, 'error-codes': codes }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  let count = 0
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/siteverify`,
    asked,
    /** What a browser gets for having passed the check. */
    pass(): string {
      const token = `passed-${++count}`
      good.add(token)
      return token
    },
    breakWith: (how: typeof broken) => {
      broken = how
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
