import { readFileSync, writeFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import { build } from 'esbuild'

/**
 * Compiles schema/compose-spec.json to src/generated/validator.js, because the content security policy of the console forbids code that is made at
 * run time. `--check` only reports whether it is up to date.
 */

type Schema = { [key: string]: unknown }

const target = new URL('../src/generated/validator.js', import.meta.url)
const schema: Schema = JSON.parse(readFileSync(new URL('../schema/compose-spec.json', import.meta.url), 'utf8'))

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function getSchema(parent: Schema, key: string): Schema {
  const value = parent[key]
  if (!isSchema(value)) throw new Error(`The schema has no object at ${key}.`)
  return value
}

const definitions = getSchema(schema, '$defs')

/**
 * A definition as one list of properties: `allOf` of definitions that have properties only, with unevaluatedProperties, is the same as all of their
 * properties with additionalProperties. As such it names the one unknown key; otherwise one wrong value makes every key of its part unknown.
 */
function flatten(name: string): void {
  const definition = getSchema(definitions, name)
  const { allOf, unevaluatedProperties, properties, patternProperties, ...rest } = definition
  if (!Array.isArray(allOf) || unevaluatedProperties !== false || patternProperties !== undefined)
    throw new Error(`The definition ${name} has changed. Check how its parts are put together.`)
  const parts = allOf.map((part: Schema) => {
    const part$ = getSchema(definitions, String(part.$ref).replace('#/$defs/', ''))
    const unknown = Object.keys(part$).filter(
      (key) => !['type', 'description', 'properties', 'patternProperties'].includes(key),
    )
    if (unknown.length > 0)
      throw new Error(`A part of ${name} has ${unknown.join(', ')}, which cannot be put together.`)
    return part$
  })
  definitions[name] = {
    ...rest,
    type: 'object',
    properties: Object.assign({}, ...parts.map((part) => part.properties), properties),
    patternProperties: { '^x-': {} },
    additionalProperties: false,
  }
}

for (const name of ['service', 'job', 'pre_start_hook']) flatten(name)
// Comparing each port or volume with each other takes too long for thousands of them, and merging has made them unique.
delete getSchema(getSchema(getSchema(definitions, 'workload_spec'), 'properties'), 'ports').uniqueItems
delete getSchema(getSchema(getSchema(definitions, 'container_spec'), 'properties'), 'volumes').uniqueItems
// Services are checked one by one, so that one cannot hide the problems of others.
const root = structuredClone(schema)
const services = getSchema(getSchema(root, 'properties'), 'services')
services.patternProperties = { '^[a-zA-Z0-9._-]+$': {} }
// Jobs are never converted, and are listed as not kept.
getSchema(getSchema(root, 'properties'), 'jobs').patternProperties = { '^[a-zA-Z0-9._-]+$': {} }

/** Texts are for the editor, and are not compiled. */
function removeDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(removeDescriptions)
  if (!isSchema(value)) return value
  const kept = Object.entries(value).filter(([key, inner]) => key !== 'description' || typeof inner !== 'string')
  return Object.fromEntries(kept.map(([key, inner]) => [key, removeDescriptions(inner)]))
}

const ajv = new Ajv2020({ allErrors: true, strict: false, inlineRefs: false, code: { source: true, esm: true } })
const plain = removeDescriptions({ ...root, $defs: definitions, $id: 'root' })
if (!isSchema(plain)) throw new Error('The schema is no object.')
ajv.addSchema(plain)
ajv.addSchema({ $id: 'service', $ref: 'root#/$defs/service' })
const code = standalone.default(ajv, { validateRoot: 'root', validateService: 'service' })
const bundled = await build({
  stdin: { contents: code, resolveDir: import.meta.dirname, loader: 'js' },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
})
const banner = '// Written by packages/compose/scripts/write-validator.ts from schema/compose-spec.json.\n'
const text = banner + (bundled.outputFiles[0]?.text ?? '')

if (!process.argv.includes('--check')) {
  writeFileSync(target, text)
} else if (readFileSync(target, 'utf8') !== text) {
  process.stderr.write('src/generated/validator.js is out of date: node packages/compose/scripts/write-validator.ts\n')
  process.exit(1)
}
