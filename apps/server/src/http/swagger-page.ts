import type { OpenApi, OpenApiOperation } from '@crux/contract'

/** A plain page of the API, without scripts and external resources, usable without a mouse. */
export function swaggerPage(document: OpenApi): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const groups = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? 'other')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(document.info.title)} ${html(document.info.version)}</title>
<link rel="stylesheet" href="/api/swagger.css">
</head>
<body>
<header>
<h1>${html(document.info.title)} <small>${html(document.info.version)}</small></h1>
<p>${html(document.info.description)} <a href="/api/openapi.json">OpenAPI 3.1 document</a></p>
</header>
<nav aria-label="Resources">${[...groups.keys()].map((tag) => `<a href="#${html(tag)}">${html(tag)}</a>`).join(' ')}</nav>
<main>
${[...groups].map(([tag, entries]) => `<h2 id="${html(tag)}">${html(tag)}</h2>\n${entries.map(section).join('\n')}`).join('\n')}
</main>
</body>
</html>
`
}

function section({ path, method, operation }: { path: string; method: string; operation: OpenApiOperation }): string {
  const parameters = operation.parameters ?? []
  const body = operation.requestBody?.content['application/json']?.schema
  return `<details id="${html(operation.operationId)}">
<summary><b class="${html(method)}">${html(method.toUpperCase())}</b> <code>${html(path)}</code> <span>${html(operation.summary)}</span></summary>
<p>${html(operation.description)}</p>
${parameters.length > 0 ? `<h4>Parameters</h4><table><tbody>${parameters.map((entry) => `<tr><td><code>${html(entry.name)}</code></td><td>${html(entry.in)}${entry.required ? ', required' : ''}</td><td>${shape(entry.schema)}</td></tr>`).join('')}</tbody></table>` : ''}
${body ? `<h4>Body</h4>${shape(body)}` : ''}
<h4>Answers</h4><table><tbody>${Object.entries(operation.responses)
    .map(([status, answer]) => {
      const schema = answer.content?.['application/json']?.schema
      return `<tr><td><code>${html(status)}</code></td><td>${html(answer.description)}</td><td>${schema ? shape(schema) : ''}</td></tr>`
    })
    .join('')}</tbody></table>
</details>`
}

const shape = (schema: unknown) => `<pre>${html(JSON.stringify(schema, null, 1))}</pre>`

const html = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

export const swaggerStyle = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 70rem; margin: 0 auto; padding: 1.5rem }
small, summary span { color: GrayText; font-weight: normal }
nav { display: flex; flex-wrap: wrap; gap: .25rem .75rem }
details { border-top: 1px solid color-mix(in srgb, GrayText 30%, transparent); padding: .35rem 0 }
summary { cursor: pointer }
summary b { display: inline-block; min-width: 4.5rem; font-size: .8rem }
pre, code { font: 13px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
pre { max-height: 24rem; overflow: auto; margin: 0 }
table { border-collapse: collapse; width: 100% }
td { vertical-align: top; padding: .2rem .75rem .2rem 0 }
`
