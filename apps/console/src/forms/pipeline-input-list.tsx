import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { FoldedText } from '../components/FoldedText.tsx'

type Props = { label: string; inputs: readonly { key: string; value: string }[] }

const rowsMax = 8

/** Keys and values of a run or a pipeline, to read. */
export function PipelineInputList({ label, inputs }: Props) {
  const { t } = useTranslation(['pipelines', 'common'])
  const [all, setAll] = useState(false)
  const isLong = inputs.length > rowsMax + 2
  const rows = isLong && !all ? inputs.slice(0, rowsMax) : inputs
  return (
    <>
      <dl aria-label={label}>
        {rows.map(({ key, value }) => (
          <div
            key={key}
            className="grid gap-x-4 border-b border-line px-3 py-1.5 last:border-0 wide:grid-cols-[minmax(120px,1fr)_2fr]"
          >
            <dt className="mono wrap-anywhere text-ink-2">{key}</dt>
            <dd className="mono min-w-0">
              {value === '' ? (
                <span className="text-ink-3">{t('inputs.empty')}</span>
              ) : (
                <FoldedText text={value} lines={3} />
              )}
            </dd>
          </div>
        ))}
      </dl>
      {isLong && (
        <div className="border-t border-line px-3 py-2">
          <Button size="sm" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? t('common:showLess') : t('inputs.all', { count: inputs.length })}
          </Button>
        </div>
      )}
    </>
  )
}
