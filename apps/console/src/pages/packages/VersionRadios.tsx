import { useLayoutEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { SearchBox } from '../../components/SearchBox.tsx'
import { State } from '../../components/State.tsx'
import { Pill } from '../../components/Tag.tsx'
import type { ChainVersion } from './chain-versions.ts'

type Props = { versions: readonly ChainVersion[]; value: string; onChange: (versionId: string) => void }

/** Below this number all versions are in sight. */
const searchedFrom = 7

/** The versions of a chain, the latest first, each with where it runs. */
export function VersionRadios({ versions, value, onChange }: Props) {
  const { t } = useTranslation('packages')
  const [text, setText] = useState('')
  const list = useRef<HTMLDivElement>(null)
  // The proposed version is in the middle of what is seen; a later choice moves nothing.
  useLayoutEffect(() => {
    const checked = list.current?.querySelector<HTMLElement>('label:has(:checked)')
    if (list.current && checked)
      list.current.scrollTop = checked.offsetTop - (list.current.clientHeight - checked.offsetHeight) / 2
  }, [])
  const found = versions.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
  return (
    <fieldset className="grid gap-1.5">
      <legend className="mb-[5px] font-strong">{t('promote.version')}</legend>
      {versions.length >= searchedFrom && (
        <SearchBox label={t('promote.filter')} value={text} onChange={setText} className="w-full" />
      )}
      <div ref={list} className="relative max-h-36 overflow-y-auto rounded-md border border-line bg-surface">
        {found.length === 0 && <p className="px-2.5 py-1.5 text-ink-2">{t('promote.noMatch')}</p>}
        {found.map((version) => (
          <label
            key={version.id}
            className={cx(
              'flex min-h-8 items-center gap-2 border-b border-line px-2.5 py-1 last:border-0',
              version.here ? 'text-ink-3' : 'hover:bg-hover has-checked:bg-accent-soft',
            )}
          >
            <input
              type="radio"
              name="version"
              value={version.id}
              checked={version.id === value}
              disabled={version.here}
              onChange={() => onChange(version.id)}
              className="accent-(--accent)"
            />
            <span className="mono min-w-0 truncate font-semibold" title={version.name}>
              {version.name}
            </span>
            <span className="ml-auto flex shrink-0 flex-wrap items-center justify-end gap-1">
              {version.status && <State kind="deployment" value={version.status} />}
              {version.here && <Pill>{t('promote.here')}</Pill>}
              {version.runsIn.map((environment) => (
                <Pill key={environment} tone="accent">
                  {t('promote.in', { environment })}
                </Pill>
              ))}
              {version.isLatest && <Pill>{t('promote.latest')}</Pill>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
