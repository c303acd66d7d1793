import { execFileSync } from 'node:child_process'
import { posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { listImports, projectFiles, root, type SourceFile } from '../test/repository.ts'

// `npm test -- --changed` runs what this selects: prints the unit test files and the browser specs that a change touches, as JSON.

export interface Selection {
  unit: string[]
  browser: string[]
}

/**
 * Everything is connected through the files that put an application together, so the search for importers ends at them. Tests that start a whole
 * process are selected by `journeys` instead.
 */
const composition =
  /^apps\/[^/]+\/src\/(main|start|compose|context|cli|index|routes[\w-]*)\.tsx?$|^packages\/contract\/src\/contract\.ts$/

/** The tests of whole processes and of the browser for a changed source, as beginnings of paths. The first match counts. */
const journeys: { changed: RegExp; tests: string[] }[] = [
  { changed: /\.md$|^docs\/|^\.ci\/|^test\/|\.test\.tsx?$|^bench\//, tests: [] },
  {
    changed: /^apps\/agent\/src\/.*(gate|relay)/,
    tests: ['apps/agent/test/gate', 'apps/agent/test/handover', 'e2e/journeys/clean-up'],
  },
  { changed: /^apps\/agent\/src\/(volumes|storage)\//, tests: ['apps/agent/test/volume', 'apps/agent/test/import'] },
  { changed: /^apps\/agent\/src\/(link|journal)\//, tests: ['apps/agent/test/link', 'apps/agent/test/resume'] },
  { changed: /^apps\/agent\/src\/.*images\//, tests: ['apps/agent/test/images', 'apps/agent/test/stored-images'] },
  {
    changed: /^apps\/agent\/src\//,
    tests: ['apps/agent/test/deployment', 'apps/agent/test/failures', 'e2e/journeys/first-container'],
  },
  {
    changed: /^apps\/identity\/src\//,
    tests: ['apps/identity/src/kratos', 'e2e/journeys/sign-in', 'e2e/journeys/account'],
  },
  {
    changed: /^apps\/console\/src\/pages\/(account|auth)\//,
    tests: ['e2e/journeys/account', 'e2e/journeys/sign-in', 'e2e/journeys/captcha', 'e2e/journeys/providers'],
  },
  {
    changed:
      /^apps\/console\/src\/pages\/(container-configurations|config-bundles)\/|^packages\/(config-editor|rules)\//,
    tests: ['e2e/journeys/configuration', 'e2e/journeys/bundles', 'e2e/journeys/secrets', 'e2e/journeys/typing'],
  },
  { changed: /^apps\/console\/src\/pages\/nodes\//, tests: ['e2e/journeys/nodes', 'e2e/journeys/small-windows'] },
  {
    changed: /^apps\/console\/src\/pages\/deployments\//,
    tests: ['e2e/journeys/deployments', 'e2e/journeys/failures', 'e2e/journeys/seen-start'],
  },
  {
    changed: /^apps\/console\/src\/pages\/(projects|versions|dashboard)\//,
    tests: ['e2e/journeys/versions', 'e2e/journeys/dashboard', 'e2e/journeys/lists'],
  },
  { changed: /^apps\/console\/src\/pages\/teams\//, tests: ['e2e/journeys/team'] },
  { changed: /^apps\/console\//, tests: ['e2e/journeys/shell', 'e2e/journeys/forms', 'e2e/journeys/lists'] },
  {
    changed: /^apps\/server\/(src|migrations)\//,
    tests: [
      'apps/server/test/rights',
      'apps/server/test/audit',
      'apps/server/test/http',
      'e2e/journeys/first-container',
    ],
  },
  {
    changed: /^packages\/contract\//,
    tests: [
      'apps/server/test/rights',
      'apps/server/test/scopes',
      'apps/server/test/malformed',
      'e2e/journeys/first-container',
    ],
  },
  { changed: /^packages\/(postgres|service-kit|client)\//, tests: ['apps/server/test/http', 'e2e/system/survives'] },
  { changed: /^(apps|packages)\/[^/]+\/test\/|^packages\/test-kit\//, tests: [] },
]

/** @returns undefined for everything: a changed file is not known to `journeys`, such as the lockfile or the set-up of the tests */
export function selectTests(
  changed: readonly string[],
  files: readonly SourceFile[],
  importers = importersIn(files),
): Selection | undefined {
  const isSpec = (path: string) => /^e2e\/.*\.spec\.ts$/.test(path)
  const isTest = (path: string) => /\.test\.tsx?$/.test(path)
  const reached = new Set(changed)
  for (const path of reached) for (const importer of importers.get(path) ?? []) reached.add(importer)
  const near = new Set(changed.map((path) => posix.dirname(path)))
  const whole = new Set<string>()
  for (const path of changed) {
    const known = /^e2e\/.+\/.*\.ts$/.test(path) ? [] : journeys.find((entry) => entry.changed.test(path))?.tests
    if (!known) return undefined
    for (const { path: test } of files) if (known.some((beginning) => test.startsWith(beginning))) whole.add(test)
  }
  const wanted = files
    .map(({ path }) => path)
    .filter(
      (path) =>
        reached.has(path) ||
        whole.has(path) ||
        /^test\/.*\.test\.ts$/.test(path) ||
        (isTest(path) && near.has(posix.dirname(path))),
    )
  return { unit: wanted.filter(isTest), browser: wanted.filter(isSpec) }
}

/** The files that import each file. An import from the index of a package counts only for what it names. */
export function importersIn(files: readonly SourceFile[]): Map<string, Set<string>> {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const importers = new Map<string, Set<string>>()
  for (const { path, text } of files) {
    if (composition.test(path)) continue
    for (const target of listTargets(path, text, texts))
      importers.set(target, (importers.get(target) ?? new Set()).add(path))
  }
  return importers
}

function listTargets(path: string, text: string, texts: ReadonlyMap<string, string>): string[] {
  return listImports(text).flatMap(({ specifier }) => {
    if (specifier.startsWith('.')) return [posix.join(posix.dirname(path), specifier)]
    const [, name, entry] = /^@crux\/([\w-]+)(?:\/([\w-]+))?$/.exec(specifier) ?? []
    const index = ['packages', 'apps']
      .map((kind) => `${kind}/${name}/src/${entry ?? 'index'}.ts`)
      .find((one) => texts.has(one))
    if (!index) return []
    const named = [...text.matchAll(new RegExp(`\\{([^}]*)\\}\\s*from '${specifier}'`, 'g'))].flatMap(
      ([, names = '']) => names.split(',').map((one) => one.replace(/\btype\b|\bas\b.*/g, '').trim()),
    )
    const exporting = listImports(texts.get(index) ?? '')
      .map((one) => posix.join(posix.dirname(index), one.specifier))
      .filter((file) =>
        named.some((one) =>
          new RegExp(`\\b(const|function|class|type|interface) ${one}\\b`).test(texts.get(file) ?? ''),
        ),
      )
    return exporting.length > 0 ? exporting : [index]
  })
}

/** The files that differ from the branch that this one follows, committed or not. */
function changedFiles(): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  let base = 'HEAD'
  try {
    base = git('merge-base', 'HEAD', '@{upstream}').trim()
  } catch {
    // The branch follows none: only what is not committed counts.
  }
  return [
    ...git('diff', '--name-only', base).split('\n'),
    ...git('ls-files', '--others', '--exclude-standard').split('\n'),
  ].filter(Boolean)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const changed = changedFiles()
  const selection = selectTests(changed, projectFiles(/^(apps|packages|e2e|test|scripts|bench)\/.*\.tsx?$/))
  console.log(JSON.stringify({ changed, ...(selection ?? { everything: true }) }))
}
