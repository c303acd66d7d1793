import { Clock, Download, Search, WrapText } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { ButtonAnchor, IconButton } from '../Button.tsx'
import type { LogBuffer } from './log-buffer.ts'
import { download } from './log-text.ts'
import type { useLogViewOptions } from './log-view-options.ts'

type Options = ReturnType<typeof useLogViewOptions>
type Props = {
  title: string
  actions: ReactNode
  buffer: LogBuffer
  fileName: string
  /** Address of the log from its first line on, where the lines here are only its end. */
  whole: string | undefined
  options: Options[0]
  setOptions: Options[1]
  isSearching: boolean
  onSearch: () => void
}

/** The title of a log with its tools. */
export function LogHeader(props: Props) {
  const { title, actions, buffer, fileName, whole, options, setOptions, isSearching, onSearch } = props
  const { t } = useTranslation('log')
  return (
    <header className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-3 py-1">
      <h2 className="mr-auto font-strong">{title}</h2>
      {actions && <div className="min-w-0 max-md:order-1 max-md:basis-full">{actions}</div>}
      <div className="flex items-center gap-2">
        <span className="flex">
          <IconButton icon={Search} label={t('search')} size="sm" aria-pressed={isSearching} onClick={onSearch} />
          <Toggle icon={WrapText} label={t('wrap')} on={options.wrap} onChange={(wrap) => setOptions({ wrap })} />
          <Toggle icon={Clock} label={t('times')} on={options.times} onChange={(times) => setOptions({ times })} />
          {!whole && (
            <IconButton
              icon={Download}
              label={t('download')}
              size="sm"
              disabledReason={buffer.size === 0 && t('nothing')}
              onClick={() => download(buffer, fileName)}
            />
          )}
        </span>
        {whole && (
          <ButtonAnchor href={whole} download={`${fileName}.log`} icon={Download} size="sm">
            {t('downloadWhole')}
          </ButtonAnchor>
        )}
      </div>
    </header>
  )
}

type ToggleProps = { icon: typeof Clock; label: string; on: boolean; onChange: (on: boolean) => void }

function Toggle({ icon, label, on, onChange }: ToggleProps) {
  return (
    <IconButton
      icon={icon}
      label={label}
      size="sm"
      aria-pressed={on}
      className={on ? 'bg-hover text-ink!' : undefined}
      onClick={() => onChange(!on)}
    />
  )
}
