import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { App } from '../../app/app.ts'
import type { Routes } from '../../http/routes.ts'
import type { Node } from '../../ui/nodes.ts'

const path = '/.well-known/ory/webauthn.js'
const script = readFileSync(new URL('../../../public/webauthn.js', import.meta.url))
const integrity = `sha512-${createHash('sha512').update(script).digest('base64')}`

export const scriptRoutes: Routes = {
  [path]: { GET: async (ctx) => ctx.reply.type('text/javascript; charset=UTF-8').send(script) },
}

/** The node with the address of the script whose functions the buttons of keys and passkeys call. */
export function scriptNode(app: App): Node {
  return {
    type: 'script',
    group: 'webauthn',
    attributes: {
      src: app.publicUrl + path,
      async: true,
      referrerpolicy: 'no-referrer',
      crossorigin: 'anonymous',
      integrity,
      type: 'text/javascript',
      id: 'webauthn_script',
      nonce: randomUUID(),
      node_type: 'script',
    },
    messages: [],
    meta: {},
  }
}
