import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ErrorDetail, invalidArgument, type Template, TemplateFile, TemplateId } from '@crux/contract'
import { findTemplateProblems, readConfigInput } from '@crux/rules'
import type { App } from '../context.ts'

/** A template with its picture, an SVG. */
export type LoadedTemplate = { template: Template; picture: string }
export type ParsedTemplate = { ok: true; file: TemplateFile } | { ok: false; problems: ErrorDetail[] }

/**
 * Reads the templates of a directory: `NAME.json` with the picture `NAME.svg`. A template with a problem is left out and logged; the tests refuse
 * one that belongs to Crux.
 */
export function readTemplates(directory: string, log: Pick<App['log'], 'error'>): Map<string, LoadedTemplate> {
  const ids = readdirSync(directory)
    .flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []))
    .sort()
  const templates = new Map<string, LoadedTemplate>()
  for (const id of ids) {
    try {
      const parsed = parseTemplate(readFileSync(join(directory, `${id}.json`), 'utf8'))
      if (!parsed.ok) {
        log.error({ template: id, problems: parsed.problems }, 'a template was left out because its file has problems')
        continue
      }
      const picture = readFileSync(join(directory, `${id}.svg`), 'utf8')
      const pictureHash = createHash('sha256').update(picture).digest('hex').slice(0, 16)
      templates.set(id, { template: { id: TemplateId.parse(id), ...parsed.file, pictureHash }, picture })
    } catch (err) {
      log.error({ err, template: id }, 'a template was left out because its file or its picture cannot be read')
    }
  }
  return templates
}

/** Parses the file of a template. Configurations may be short, as in the JSON tab: `"ports": ["8080:80"]`. */
export function parseTemplate(text: string): ParsedTemplate {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    return refused([{ property: '', error: 'json', description: cause instanceof Error ? cause.message : `${cause}` }])
  }
  const problems: ErrorDetail[] = []
  const read = withReadConfigs(json, problems)
  if (problems.length > 0) return refused(problems)
  const parsed = TemplateFile.safeParse(read)
  if (!parsed.success) return refused(invalidArgument(parsed.error).details ?? [])
  const found = findTemplateProblems(parsed.data)
  return found.length > 0 ? refused(found) : { ok: true, file: parsed.data }
}

const refused = (problems: ErrorDetail[]): ParsedTemplate => ({ ok: false, problems })

function withReadConfigs(json: unknown, problems: ErrorDetail[]): unknown {
  if (!isObject(json) || !Array.isArray(json.images)) return json
  const images = json.images.map((image: unknown, index) => {
    if (!isObject(image) || !isObject(image.config)) return image
    const read = readConfigInput(image.config, { mayBeUnfinished: false })
    if (read.ok) return { ...image, config: read.config }
    for (const problem of read.problems)
      problems.push({ ...problem, property: `images[${index}].config.${problem.property}` })
    return image
  })
  return { ...json, images }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
