import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Field, TextInput } from '../components/Field.tsx'
import { Pill } from '../components/Tag.tsx'
import { previewInputs } from './event-watcher-values.ts'
import type { InputRow } from './pipeline-input-values.ts'

type Props = { ofPipeline: readonly InputRow[]; ofWatcher: readonly InputRow[]; filter: string }

/** What a run would get for an example image: of the user, or one that fits the filter. */
export function EventWatcherPreview({ ofPipeline, ofWatcher, filter }: Props) {
  const { t } = useTranslation('pipelines')
  const [typed, setTyped] = useState<string | null>(null)
  const image = typed ?? toExample(filter.trim())
  const inputs = previewInputs(ofPipeline, ofWatcher, image.trim(), (key) => t('preview.label', { key }))
  // The filter may leave out the prefix of the registry.
  const parts = image.trim().split('/')
  const fits = parts.some((_, index) => parts.slice(index).join('/').startsWith(filter.trim()))
  return (
    <section aria-label={t('preview.title')} className="grid gap-2 rounded-box border border-line p-3">
      <h3 className="font-strong">{t('preview.title')}</h3>
      <Field label={t('preview.image')} error={fits ? null : t('preview.doesNotFit')}>
        <TextInput mono autoComplete="off" value={image} onChange={(event) => setTyped(event.target.value)} />
      </Field>
      {inputs.length === 0 ? (
        <p className="text-ink-2">{t('inputs.none')}</p>
      ) : (
        <dl aria-label={t('preview.inputs')} className="max-h-60 overflow-y-auto">
          {inputs.map(({ key, value, inherited }) => (
            <div key={key} className="grid grid-cols-[minmax(0,1fr)_minmax(0,1.5fr)] gap-x-3 py-1">
              <dt className="mono wrap-anywhere text-ink-2">
                {key} {inherited && <Pill>{t('preview.ofPipeline')}</Pill>}
              </dt>
              <dd className="mono wrap-anywhere whitespace-pre-wrap">
                {value || <span className="text-ink-3">{t('inputs.empty')}</span>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

/** An image that the filter lets through: `shop/` becomes `shop/web:1.2.0`. */
const toExample = (filter: string) => {
  if (filter === '') return 'shop/web:1.2.0'
  if (filter.includes(':')) return filter
  return `${filter}${filter.endsWith('/') ? 'web' : ''}:1.2.0`
}
