import type { Page } from '@playwright/test'

/** Records everything that a page sends and receives from now on, as text: addresses, bodies, frames of its WebSockets. */
export function recordTraffic(page: Page): { text: () => Promise<string> } {
  const parts: (string | Promise<string>)[] = []
  page.on('request', (request) => {
    parts.push(`${request.method()} ${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ''}`)
  })
  page.on('response', (response) => {
    const type = response.headers()['content-type'] ?? ''
    // Scripts, styles and fonts are files of the build.
    if (!/json|text\/(plain|html)/.test(type)) return
    parts.push(
      response.text().then(
        (body) => `${response.url()} ${body}`,
        () => '',
      ),
    )
  })
  page.on('websocket', (socket) => {
    for (const event of ['framesent', 'framereceived'] as const)
      socket.on(event as 'framesent', ({ payload }) => void parts.push(String(payload)))
  })
  return { text: async () => (await Promise.all(parts)).join('\n') }
}
