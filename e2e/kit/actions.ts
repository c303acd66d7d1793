import { type Action, contract, type EndpointSpec, liveChannels } from '@crux/contract'
import type { Page } from '@playwright/test'

/** Blocks every request and live message of a page that would change something, and returns their names in the contract. */
export async function blockActions(page: Page): Promise<Set<Action>> {
  const actions = new Set<Action>()
  await page.route(/\/api\//, async (route) => {
    const request = route.request()
    const { operation, audit } = getRow(request.method(), new URL(request.url()).pathname)
    // Changing endpoints are audited, while a read may also be a POST.
    if (!audit) return route.fallback()
    actions.add(operation)
    await route.fulfill({ status: 412, json: { error: 'preconditionFailed', message: 'Held', description: 'Held.' } })
  })
  await page.routeWebSocket(/\/api$/, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((text) => {
      const action = getMessage(String(text))
      if (action) actions.add(action)
      else server.send(text)
    })
  })
  return actions
}

const patterns = Object.entries<EndpointSpec>(contract).map(([operation, { method, path, audit }]) => ({
  audit,
  operation: operation as Action,
  method,
  shape: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`),
  parameters: path.split(':').length,
}))

/** Selects the endpoint with the fewest parameters: `/teams/invitations` before `/teams/:teamId`. */
function getRow(method: string, path: string) {
  const [row] = patterns
    .filter((candidate) => candidate.method === method && candidate.shape.test(path))
    .sort((a, b) => a.parameters - b.parameters)
  if (!row) throw new Error(`${method} ${path} is not in the contract`)
  return row
}

const messages = Object.entries(liveChannels).flatMap(([channel, { path, client }]) =>
  Object.entries(client)
    .filter(([, { audit }]) => audit !== false)
    .map(([message]) => ({
      action: `${channel}/${message}` as Action,
      shape: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}/${message}$`),
    })),
)

const getMessage = (text: string): Action | undefined => {
  const { type } = JSON.parse(text) as { type: string }
  return messages.find(({ shape }) => shape.test(type))?.action
}
