// The gateway of test/journeys/authority: two certificates with different hosts, which a test may renew.
import { type CertificateFolder, certificateFolder } from './certificate-folder.ts';
import { type RunningGateway, runGateway } from './gateway.ts';

export interface AuthorityGateway extends AsyncDisposable {
  readonly gateway: RunningGateway;
  /** `a` for a.example and the hosts below it, and `b` for b.example. */
  readonly certificates: CertificateFolder;
}

/** `environment`: further variables; its `ECHO` is the upstream. */
export async function authorityGateway(
  environment: Readonly<Record<string, string>>,
): Promise<AuthorityGateway> {
  await using starting = new AsyncDisposableStack();
  const certificates = starting.use(await certificateFolder());
  await certificates.place('a', ['a.example', '*.a.example']);
  await certificates.place('b', ['b.example']);
  const gateway = starting.use(
    await runGateway({
      config: 'authority/gateway.yaml',
      policies: 'authority/policies',
      environment: { CERTS: certificates.path, ...environment },
    }),
  );
  const started = starting.move();
  return { gateway, certificates, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
