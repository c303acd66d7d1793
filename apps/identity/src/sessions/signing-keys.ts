import { desc, sql } from 'drizzle-orm'
import { exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import type { App } from '../app/app.ts'
import { newToken } from '../crypto/secrets.ts'
import { signingKeys } from '../db/schema.ts'
import type { Routes } from '../http/routes.ts'

export const signingAlgorithm = 'ES256'
/** How long a key signs. Its public half is published for longer than the lifespan of its last token. */
const signsForDays = 90

/** The public halves of the keys, for services that verify tokens of `tokenize_as`. */
export function signingKeyRoutes(app: App): Routes {
  return {
    '/.well-known/jwks.json': {
      GET: async (ctx) => {
        const rows = await app.database.db
          .select({ publicKey: signingKeys.publicKey })
          .from(signingKeys)
          .orderBy(desc(signingKeys.createdAt))
        ctx.reply.header('cache-control', 'public, max-age=300')
        return ctx.reply.send({ keys: rows.map(({ publicKey }) => publicKey) })
      },
    },
  }
}

type SigningKey = Awaited<ReturnType<typeof importJWK>>

/** The current signing key. A new one is created when there is none or the last one has expired. */
export async function currentSigningKey(app: App): Promise<{ id: string; key: SigningKey }> {
  const [row] = await app.database.db
    .select({ id: signingKeys.id, sealedKey: signingKeys.sealedKey })
    .from(signingKeys)
    .where(sql`${signingKeys.createdAt} > now() - make_interval(days => ${signsForDays})`)
    .orderBy(desc(signingKeys.createdAt))
    .limit(1)
  const opened = row && open(app, row)
  const { id, jwk } = opened ?? (await makeKey(app))
  return { id, key: await importJWK(jwk, signingAlgorithm) }
}

/** Undefined after CRUX_SECRET was changed; a new key is then created. */
function open(app: App, row: { id: string; sealedKey: string }): { id: string; jwk: JWK } | undefined {
  try {
    return { id: row.id, jwk: JSON.parse(app.keys.open(row.sealedKey, toPlace(row.id))) }
  } catch {
    return undefined
  }
}

async function makeKey(app: App): Promise<{ id: string; jwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair(signingAlgorithm, { extractable: true })
  const id = newToken('')
  const jwk = await exportJWK(privateKey)
  const shown = { ...(await exportJWK(publicKey)), kid: id, use: 'sig', alg: signingAlgorithm }
  const sealedKey = app.keys.seal(JSON.stringify(jwk), toPlace(id))
  await app.database.db.insert(signingKeys).values({ id, publicKey: shown, sealedKey })
  return { id, jwk }
}

const toPlace = (id: string) => `signing key ${id}`
