import type { ResponseOf } from '@crux/contract'
import { Download, LoaderCircle } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { CodeBlock } from '../../components/CodeBlock.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { useNow } from '../../components/RelativeTime.tsx'
import { saveFile } from '../../components/save-file.ts'

type Props = { teamSlug: string; nodeId: string; install: NonNullable<ResponseOf<'nodes.get'>['install']> }

/** The command to run on the node, while it may be used: single use, ten minutes, kept over reloads. */
export function InstallCommand({ teamSlug, nodeId, install }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const left = Math.max(0, Math.floor((Date.parse(install.expireAt) - useNow()) / 1000))
  const { manifest } = install
  const remove = useCall('nodes.delete-script', { stale: [queryKey('nodes.get', { params: { teamSlug, nodeId } })] })
  return (
    <Box
      title={t(manifest ? 'install.runCluster' : 'install.run')}
      actions={
        <Button
          size="sm"
          busy={remove.isPending}
          disabledReason={remove.denied}
          onClick={() => remove.mutate({ params: { teamSlug, nodeId } })}
        >
          {t('install.delete')}
        </Button>
      }
    >
      <div className="grid gap-3 p-3.5">
        <p className="text-ink-2">{t(`install.runText.${manifest ? 'cluster' : (install.scriptType ?? 'shell')}`)}</p>
        <div className="flex items-start gap-2 rounded-md border border-line bg-sunken p-2.5">
          <code className="min-w-0 flex-1 break-all select-all">{install.command}</code>
          <CopyButton text={install.command} label={t('install.copy')} />
        </div>
        <p role="status" className="flex items-center gap-2 text-progress">
          <LoaderCircle aria-hidden className="animate-[turn_1.6s_linear_infinite]" />
          <span className="font-strong">{t('install.waiting')}</span>
          <span className="ml-auto text-ink-2 tabular-nums" aria-live="off">
            {t('install.left', { time: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}` })}
          </span>
        </p>
        {manifest && <Manifest manifest={manifest} />}
        <details className="text-ink-2">
          <summary className="rounded-sm">{t('install.showScript')}</summary>
          <CodeBlock
            text={install.script}
            label={t('install.script')}
            className="mt-2 max-h-96 rounded-md border border-line text-ink"
          />
        </details>
      </div>
    </Box>
  )
}

type ManifestProps = { manifest: NonNullable<Props['install']['manifest']> }

/** For those who apply what they have read: the objects that the command applies, and where their image comes from. */
function Manifest({ manifest: { image, imageIsPulled, namespace, yaml } }: ManifestProps) {
  const { t } = useTranslation('nodes')
  return (
    <>
      <p className={imageIsPulled ? 'text-ink-2' : 'rounded-md px-3 py-2 tinted-progress'}>
        {t(imageIsPulled ? 'install.imagePulled' : 'install.imageLoaded', { image })}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 basis-56 text-ink-2">{t('install.manifestText')}</p>
        <Button icon={Download} onClick={() => saveFile(`${namespace}.yaml`, [yaml], 'application/yaml')}>
          {t('install.downloadManifest')}
        </Button>
      </div>
      <details className="text-ink-2">
        <summary className="rounded-sm">{t('install.showManifest')}</summary>
        <CodeBlock
          text={yaml}
          label={t('install.manifest')}
          className="mt-2 max-h-96 rounded-md border border-line text-ink"
        />
      </details>
    </>
  )
}
