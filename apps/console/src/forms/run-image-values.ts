import { ImageRun, Port, portProtocols } from '@crux/contract'
import { parseFullImageName } from '@crux/rules'
import i18n from 'i18next'
import { z } from 'zod'

const toPort = (text: string) => (text.trim() === '' ? null : Number(text))

/** The form holds what was typed; the request has numbers, and no port of the node for a row that publishes nothing. */
export const runImageSchema = z.object({
  image: z
    .string()
    .trim()
    .superRefine((text, context) => {
      const problem = findImageProblem(text)
      if (problem) context.addIssue({ code: 'custom', message: problem })
    }),
  nodeId: ImageRun.shape.nodeId,
  prefix: ImageRun.shape.prefix,
  ports: z.array(
    z.object({
      internal: z.string().transform(Number).pipe(Port),
      external: z.string().transform(toPort).pipe(Port.nullable()),
      protocol: z.enum(portProtocols),
    }),
  ),
  environment: z.string().transform((text, context) => {
    const rows = readEnvironment(text)
    for (const { line, key } of rows)
      if (key === '') context.addIssue({ code: 'custom', message: i18n.t('environmentLine', { ns: 'run', line }) })
    return rows.map(({ key, value }) => ({ key, value }))
  }),
})
export type RunImageInput = z.input<typeof runImageSchema>
export type PortRow = RunImageInput['ports'][number]

/** Null for a reference that can be run. */
export function findImageProblem(text: string): string | null {
  const parsed = parseFullImageName(text)
  return parsed.ok ? null : `${parsed.problem}.`
}

/** One variable per line; empty lines are skipped, and a line without a name has an empty key. */
function readEnvironment(text: string): { line: number; key: string; value: string }[] {
  return text.split('\n').flatMap((row, index) => {
    if (row.trim() === '') return []
    const equals = row.indexOf('=')
    const key = equals < 0 ? '' : row.slice(0, equals).trim()
    return [{ line: index + 1, key: /\s/.test(key) ? '' : key, value: row.slice(equals + 1).replace(/\r$/, '') }]
  })
}

export const toPortRow = (row: { internal: number; external: number; protocol: PortRow['protocol'] }): PortRow => ({
  internal: String(row.internal),
  external: String(row.external),
  protocol: row.protocol,
})

/** The ports of a query for a proposal: `80,53/udp`. */
export const toPortList = (ports: readonly { internal: number; protocol: string }[]): string =>
  ports.map(({ internal, protocol }) => (protocol === 'udp' ? `${internal}/udp` : String(internal))).join(',')

/** The fields of the form for the properties that the server names. */
export const getErrorFields = (ports: readonly unknown[], property: string | undefined): Record<string, string> => ({
  registry: 'image',
  registryId: 'image',
  // One of its rows, or a variable that the image requires.
  ...(property?.startsWith('environment') && { [property]: 'environment' }),
  ...Object.fromEntries(
    ports.flatMap((_, index) =>
      (['internal', 'external'] as const).map((side) => [`ports[${index}].${side}`, `ports.${index}.${side}`]),
    ),
  ),
})

/** A UUID; `crypto.randomUUID` exists only on pages with TLS or on loopback. */
export function createRequestKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const variant = '89ab'[Number(bytes[8]) % 4]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
