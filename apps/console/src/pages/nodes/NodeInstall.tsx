import { NodeScriptWrite, nodeTypes, type ResponseOf, scriptTypes } from '@crux/contract'
import { MonitorCheck, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { queryClient, queryKey, useCall } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { useNow } from '../../components/RelativeTime.tsx'
import { FormPanel } from '../../forms/FormShell.tsx'
import { ChipsField, SwitchField, TextField } from '../../forms/fields.tsx'
import { NameList } from '../../forms/name-list.ts'
import { useZodForm } from '../../forms/use-form.ts'
import { InstallCommand } from './InstallCommand.tsx'

type Props = { teamSlug: string; node: ResponseOf<'nodes.get'> }

/** Installs an agent: on this machine with one click, or by a command on another one. Replaced live when the agent connects. */
export function NodeInstall({ teamSlug, node }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const now = useNow()
  const install = node.install && Date.parse(node.install.expireAt) > now ? node.install : null
  return (
    <div className="grid min-w-0 gap-4">
      <ThisMachine teamSlug={teamSlug} node={node} />
      {install ? (
        <InstallCommand teamSlug={teamSlug} nodeId={node.id} install={install} />
      ) : node.localAgent.loopbackOnly ? (
        <Unreachable>
          <InstallForm teamSlug={teamSlug} node={node} expired={Boolean(node.install)} />
        </Unreachable>
      ) : (
        <Box title={t('install.elsewhere')}>
          <InstallForm teamSlug={teamSlug} node={node} expired={Boolean(node.install)} />
        </Box>
      )}
    </div>
  )
}

/** A command for another machine could only fail there; one for this machine is still good for a second engine. */
function Unreachable({ children }: { children: ReactNode }) {
  const { t } = useTranslation(['nodes', 'common'])
  return (
    <Box title={t('install.elsewhere')}>
      <p role="note" className="flex items-start gap-2 p-3.5">
        <TriangleAlert aria-hidden className="mt-0.5 text-progress" />
        <span>
          {t('install.loopback')} <code>CRUX_URL=http://192.0.2.7:8000 npm start -- --host 0.0.0.0</code>
        </span>
      </p>
      <details className="border-t border-line">
        <summary className="rounded-sm px-3.5 py-2.5 text-ink-2">{t('install.hereByCommand')}</summary>
        {children}
      </details>
    </Box>
  )
}

function ThisMachine({ teamSlug, node }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const params = { teamSlug, nodeId: node.id }
  // Pending until the node reports a running agent; an agent that ends before it connects can be started again.
  const start = useCall('nodes.start-local-agent', {
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKey('nodes.get', { params }) }),
  })
  const { available, reason, running } = node.localAgent
  const starting = start.isPending || running
  return (
    <Box title={t('install.here')}>
      <div className="flex flex-wrap items-center gap-3.5 p-3.5">
        <span className="grid size-9 shrink-0 place-items-center rounded-md bg-sunken text-ink-2">
          <MonitorCheck aria-hidden />
        </span>
        <p className="min-w-0 flex-1 basis-56 text-ink-2" role="status">
          {starting ? t('install.starting') : available ? t('install.hereText') : (reason ?? t('install.notHere'))}
        </p>
        <Button
          variant="main"
          busy={starting}
          disabledReason={start.denied ?? (!available && (reason ?? t('install.notHere')))}
          onClick={() => start.mutate({ params })}
        >
          {t('install.use')}
        </Button>
      </div>
    </Box>
  )
}

const shape = NodeScriptWrite.shape
const schema = z
  .object({
    type: shape.type,
    scriptType: shape.scriptType,
    workloadName: z.string(),
    rootPath: z.string(),
    traefik: z.boolean(),
    acmeEmail: z.string().trim(),
    namespaces: NameList,
  })
  .superRefine((values, context) => {
    const check = (
      name: 'workloadName' | 'rootPath' | 'acmeEmail' | 'namespaces',
      part: z.ZodType,
      value: string | readonly string[],
    ) => {
      const issue = part.safeParse(value).error?.issues[0]
      if (issue) context.addIssue({ code: 'custom', path: [name], message: issue.message })
    }
    if (values.workloadName !== '') check('workloadName', shape.workloadName, values.workloadName)
    if (values.type === 'docker' && values.rootPath !== '') check('rootPath', shape.rootPath, values.rootPath)
    if (values.type === 'k8s') check('namespaces', shape.namespaces, values.namespaces)
    if (values.type === 'docker' && values.traefik) check('acmeEmail', z.email(), values.acmeEmail)
  })

function InstallForm({ teamSlug, node, expired }: Props & { expired: boolean }) {
  const { t } = useTranslation(['nodes', 'common'])
  const form = useZodForm(schema, {
    type: node.type,
    scriptType: node.install?.scriptType ?? 'shell',
    workloadName: '',
    rootPath: '',
    traefik: false,
    acmeEmail: '',
    namespaces: '',
  })
  const generate = useCall('nodes.create-script', {
    stale: [queryKey('nodes.get', { params: { teamSlug, nodeId: node.id } })],
  })
  const docker = form.watch('type') === 'docker'
  return (
    <div className="p-3.5">
      <p className="mb-3.5 text-ink-2">{expired ? t('install.expired') : t('install.elsewhereText')}</p>
      <FormPanel
        form={form}
        submitLabel={t('install.generate')}
        plain={node.localAgent.available}
        loading={generate.isPending}
        error={generate.error}
        disabledReason={generate.denied}
        fields={{ 'dagentTraefik.acmeEmail': 'acmeEmail' }}
        onSubmit={({ type, scriptType, workloadName, rootPath, traefik, acmeEmail, namespaces }) =>
          generate.mutateAsync({
            params: { teamSlug, nodeId: node.id },
            body: {
              type,
              scriptType: type === 'docker' ? scriptType : 'shell',
              workloadName: workloadName || null,
              rootPath: type === 'docker' && rootPath ? rootPath : null,
              dagentTraefik: type === 'docker' && traefik ? { acmeEmail } : null,
              namespaces: type === 'k8s' ? namespaces : null,
            },
          })
        }
      >
        <ChipsField
          form={form}
          name="type"
          label={t('install.type')}
          options={nodeTypes.map((value) => ({ value, label: t(`type.${value}`) }))}
        />
        {docker && (
          <ChipsField
            form={form}
            name="scriptType"
            label={t('install.shell')}
            options={scriptTypes.map((value) => ({ value, label: t(`script.${value}`) }))}
          />
        )}
        <TextField
          form={form}
          name="workloadName"
          label={t(docker ? 'install.workload' : 'install.namespace')}
          help={t(docker ? 'install.workloadHelp' : 'install.namespaceHelp')}
          placeholder={docker ? 'crux-agent' : t('install.namespaceDefault')}
          optional
          mono
        />
        {!docker && (
          <TextField
            form={form}
            name="namespaces"
            label={t('install.namespaces')}
            help={t('install.namespacesHelp')}
            placeholder="shop, blog"
            optional
            mono
          />
        )}
        {docker && (
          <TextField
            form={form}
            name="rootPath"
            label={t('install.path')}
            help={t('install.pathHelp')}
            placeholder={t('install.pathDefault')}
            optional
            mono
          />
        )}
        {docker && (
          <SwitchField form={form} name="traefik" label={t('install.traefik')} help={t('install.traefikHelp')} />
        )}
        {docker && form.watch('traefik') && (
          <TextField form={form} name="acmeEmail" label={t('install.acme')} help={t('install.acmeHelp')} type="email" />
        )}
      </FormPanel>
    </div>
  )
}
