import { z } from 'zod'
import { hookKinds } from './enums.ts'
import { limits } from './limits.ts'
import { ContainerName, Id, TemplateId } from './shapes.ts'

/** The schemas of the parameters in paths, by name; every other parameter is an id. */
const parameters = {
  teamSlug: z.string().min(1).max(70),
  userId: z.string().min(1).max(64),
  /** `_` for containers outside any prefix. */
  prefix: z.string().min(1).max(limits.containerName.max),
  name: ContainerName,
  templateId: TemplateId,
  kind: z.enum(hookKinds),
  /** Part of the address of a Docker Hub hook. */
  secret: z.string().min(1).max(128),
  number: z.coerce.number().int().min(1).max(limits.releaseNumber),
  revision: z.coerce.number().int().min(1),
}
type NamesIn<Path> = Path extends `${string}/:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | NamesIn<`/${More}`>
    : Rest
  : never
export type PathParams<Path> = z.ZodObject<{
  [Name in NamesIn<Path>]: Name extends keyof typeof parameters ? (typeof parameters)[Name] : typeof Id
}>
export type WithPathParams<Table extends Record<string, { path: string }>> = {
  [Name in keyof Table]: [NamesIn<Table[Name]['path']>] extends [never]
    ? Table[Name]
    : Table[Name] & { params: PathParams<Table[Name]['path']> }
}

const byName = new Map<string, z.ZodType>(Object.entries(parameters))
const toParams = (path: string) => {
  const names = Array.from(path.matchAll(/\/:(\w+)/g), ([, name = '']) => name)
  return names.length > 0
    ? { params: z.object(Object.fromEntries(names.map((name) => [name, byName.get(name) ?? Id]))) }
    : {}
}

/** Adds to each row of a table the schema of the parameters that its path names. */
export function withPathParams<T extends Record<string, { path: string }>>(table: T): WithPathParams<T>
export function withPathParams(table: Record<string, { path: string }>) {
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [name, { ...row, ...toParams(row.path) }]))
}
