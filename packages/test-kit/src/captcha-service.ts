import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CaptchaService = Awaited<ReturnType<typeof startCaptchaService>>

/**
 * A captcha service with the interface that Turnstile, hCaptcha and reCAPTCHA share: a script that renders a frame into the page, and a verifier of
 * its tokens.
 */
export async function startCaptchaService(secret: string) {
  const asked: Record<string, string>[] = []
  const good = new Set<string>()
  let count = 0
  let broken: 'html' | 'error' | 'silent' | undefined
  const pass = () => {
    const token = `passed-${++count}`
    good.add(token)
    return token
  }
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://captcha')
    if (pathname === '/api.js') return response.setHeader('content-type', 'text/javascript').end(script)
    if (pathname === '/frame') return response.setHeader('content-type', 'text/html').end(frame(pass()))
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', () => {
      const form = Object.fromEntries(new URLSearchParams(text))
      asked.push({ ...form, type: String(request.headers['content-type']), path: pathname })
      if (broken === 'silent') return request.socket.destroy()
      response.statusCode = broken === 'error' ? 503 : 200
      response.setHeader('content-type', broken ? 'text/html' : 'application/json')
      if (broken) return response.end('<p>sorry</p>')
      // A token works once, as in real services.
      const success = form.secret === secret && good.delete(form.response ?? '')
      const codes = form.secret === secret ? ['invalid-input-response'] : ['invalid-input-secret']
      response.end(JSON.stringify(success ? { success, hostname: 'localhost' } : { success, 'error-codes': codes }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    /** The settings of the Crux services for this captcha. */
    settings: {
      CAPTCHA_VERIFY_URL: `${origin}/siteverify`,
      CAPTCHA_SCRIPT_URL: `${origin}/api.js`,
      CAPTCHA_SITE_KEY: 'our-site',
      CAPTCHA_SECRET_KEY: secret,
    },
    /** The requests to the verifier, oldest first. */
    asked,
    /** Creates a token as after a passed check. */
    pass,
    breakWith: (how: typeof broken) => {
      broken = how
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The widget of a page: a frame with the origin of the service, whose message contains the token. */
const script = `
  const origin = new URL(document.currentScript.src).origin
  const fields = []
  window.turnstile = {
    render(place, { sitekey, callback }) {
      const frame = document.createElement('iframe')
      frame.title = 'Captcha of ' + sitekey
      frame.src = origin + '/frame'
      place.append(frame)
      window.addEventListener('message', (event) => {
        if (event.origin === origin && event.source === frame.contentWindow) callback(event.data)
      })
      return fields.push(frame) - 1
    },
    reset: (id) => { fields[id].src = origin + '/frame' },
  }
`

const frame = (token: string) => `<!doctype html>
  <button onclick="this.textContent = 'Passed'; parent.postMessage('${token}', '*')">I am a person</button>`
