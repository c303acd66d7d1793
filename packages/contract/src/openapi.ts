import { z } from 'zod'
import { sessionCookieName } from './auth.ts'
import { ContainerConfigFields } from './container-configuration.ts'
import { ContainerConfig, ContainerConfigPatch } from './container-configurations.ts'
import { contract } from './contract.ts'
import { DeploymentEvent } from './deployment-events.ts'
import { Deployment, Instance, Release } from './deployments.ts'
import type { EndpointSpec } from './endpoint.ts'
import { ErrorBody, type ErrorCode, errorCatalogue } from './errors.ts'
import { Container, Node } from './nodes.ts'
import { Image, Project, Version, VersionDeployment } from './projects.ts'
import { Registry, RegistryDetails } from './registries.ts'
import { scopeOfEndpoint } from './scopes.ts'
import { Team, TeamMember } from './teams.ts'

type Schema = Record<string, unknown>
type Content = Record<string, { schema?: Schema }>
export type OpenApiOperation = {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security?: Record<string, string[]>[]
  parameters?: { name: string; in: 'path' | 'query'; required: boolean; schema: Schema }[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { description: string; content?: Content; headers?: Record<string, unknown> }>
}
export type OpenApi = {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, Schema> }
}

const always: ErrorCode[] = ['invalidArgument', 'internalError']
const signedIn: ErrorCode[] = ['unauthorized', 'forbidden', 'notFound']

/** Schemas that are used in several places get a name. */
const named = {
  Error: ErrorBody,
  ContainerConfig,
  ContainerConfigFields,
  ContainerConfigPatch,
  Image,
  Instance,
  Deployment,
  DeploymentEvent,
  Release,
  Container,
  Node,
  Project,
  Version,
  VersionDeployment,
  Registry,
  RegistryDetails,
  Team,
  TeamMember,
}

/** The OpenAPI 3.1 description of the product API: a pure function of the contract's table. */
export function openApiDocument(version: string): OpenApi {
  const paths: OpenApi['paths'] = {}
  for (const [operation, row] of Object.entries<EndpointSpec>(contract)) {
    const path = row.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: describe(operation, row) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Crux API',
      version,
      description:
        'Deploys and orchestrates containers for teams. Sign in at /kratos, or send a session token as bearer.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(named).map(([name, shape]) => [name, share(toSchema(shape), false)])),
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: sessionCookieName },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}

function describe(operation: string, row: EndpointSpec): OpenApiOperation {
  const parameters = [...listParameters('path', row.params), ...listParameters('query', row.query)]
  const isOpen = row.permission === 'public'
  return {
    operationId: operation,
    summary: row.summary,
    description: `${permissionText(row.permission)}${tokenText(row)}${sessionText(row)}`,
    tags: [operation.split('.')[0] ?? operation],
    ...(!isOpen && {
      security:
        row.permission === 'install-token' || row.permission === 'registry-hook' || row.permission === 'pipeline-hook'
          ? [{ bearer: [] }]
          : [{ session: [] }, { bearer: [] }],
    }),
    ...(parameters.length > 0 && { parameters }),
    ...(row.body && {
      requestBody: {
        required: !row.body.safeParse(undefined).success,
        content: { 'application/json': { schema: share(toSchema(row.body)) } },
      },
    }),
    responses: toResponses(row, isOpen),
  }
}

function toResponses(row: EndpointSpec, isOpen: boolean): OpenApiOperation['responses'] {
  const type = row.contentType ?? 'application/json'
  const hasContent = row.response ?? row.contentType
  const responses: OpenApiOperation['responses'] = {
    [row.status]: {
      description: row.status === 201 ? 'Created; Location leads to it' : row.status === 204 ? 'Done' : 'The answer',
      ...(hasContent && {
        content: { [type]: { schema: row.response ? share(toSchema(row.response)) : { type: 'string' } } },
      }),
    },
  }
  const codes = new Set<ErrorCode>([...always, ...(isOpen ? [] : signedIn), ...(row.errors ?? [])])
  const byStatus = Map.groupBy(codes, (code) => errorCatalogue[code].status)
  for (const [status, group] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = {
      description: group.map((code) => `${code}: ${errorCatalogue[code].description}`).join(' '),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    }
  }
  return responses
}

function listParameters(place: 'path' | 'query', shape: z.ZodObject | undefined) {
  return Object.entries(shape?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path' || !z.safeParse(schema, undefined).success,
    schema: toSchema(schema),
  }))
}

let texts: Map<string, string> | undefined
/** Replaces every copy of a named schema by a reference, which it finds by the serialized text. */
function share(schema: Schema, outermost = true): Schema {
  texts ??= new Map(Object.entries(named).map(([name, shape]) => [JSON.stringify(toSchema(shape)), name]))
  const name = outermost ? texts.get(JSON.stringify(schema)) : undefined
  if (name) return { $ref: `#/components/schemas/${name}` }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, shareWithin(value)]))
}
function shareWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shareWithin)
  return typeof value === 'object' && value !== null ? share({ ...value }) : value
}

/** The JSON schema of what a client sends; answers have the same form. */
function toSchema(schema: z.core.$ZodType): Schema {
  const { $schema: _, ...rest }: Schema = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    // A date is serialized as text.
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
    },
  })
  return rest
}

function tokenText(row: EndpointSpec): string {
  if (['public', 'install-token', 'registry-hook', 'pipeline-hook'].includes(row.permission)) return ''
  if (row.token === 'deployment-token') return " A token needs the scope deploy, or is this deployment's own."
  const scope = scopeOfEndpoint(row)
  return scope ? ` A token needs the scope ${scope}.` : ' Not for tokens.'
}

const sessionText = (row: EndpointSpec): string =>
  row.recentSignIn ? ' The last sign-in must be at most five minutes ago; otherwise 403 with the property session.' : ''

function permissionText(permission: EndpointSpec['permission']): string {
  if (permission === 'public') return 'Open to everybody.'
  if (permission === 'session') return 'For every signed-in person.'
  if (permission === 'install-token') return 'For the holder of the install token.'
  if (permission === 'pipeline-hook') return "For the holder of the secret of the pipeline's hook."
  if (permission === 'registry-hook') return "For the holder of the token or secret of the registry's hook."
  return `Needs the permission ${permission} in the team.`
}
