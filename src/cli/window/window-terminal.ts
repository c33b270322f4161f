// Settings from the configuration and the environment for the terminal that the UI is shown on.
import { WriteStream } from 'node:tty';
import { contextWindow } from '../../models/providers.ts';
import { given } from '../../records/text/json-fields.ts';
import type { Theme, UiStyle } from '../../render/style.ts';
import { type Background, backgroundOfEnvironment, type Colour } from '../../tui/terminal/background.ts';
import { PlainScreen } from '../../tui/terminal/plain-screen.ts';
import type { Screen, ScreenListener } from '../../tui/terminal/screen.ts';
import { TerminalScreen } from '../../tui/terminal/terminal-screen.ts';
import { hasLinks } from '../../tui/text/links.ts';
import { themeOf } from '../../tui/text/themes.ts';
import { ALL_METERS, type MeterSettings } from '../../tui/views/navigation/meters.ts';
import type { Context } from '../setup/context.ts';

/** A style whose theme follows the background that the terminal reports. */
type WindowStyle = UiStyle & { theme: Theme | undefined };

export function styleOfUi(
  context: Context,
  options: { readonly accessible?: boolean; readonly plain?: boolean },
): WindowStyle {
  const accessible = options.accessible === true || context.env.ACCESSIBLE === '1';
  const plain = options.plain === true || isDumb(context);
  return {
    colour: context.out.colour && !plain,
    unicode: context.out.unicode && !plain,
    accessible: accessible || isDumb(context),
    links: !plain && (context.loaded.configuration.tui?.links ?? hasLinks(context.env)),
    theme: themeOn(context, backgroundOfEnvironment(context.env)),
  };
}

function themeOn({ env, loaded }: Context, ground: Background | Colour | null): Theme | undefined {
  const depth = WriteStream.prototype.getColorDepth(env);
  return themeOf(loaded.configuration.tui?.theme ?? 'auto', ground, depth === 8 || depth === 24 ? depth : 4);
}

/** Whether the terminal cannot move its cursor. */
export function isDumb({ env }: Context): boolean {
  return env.TERM === 'dumb';
}

export function opensScreen(context: Context, style: WindowStyle): (listener: ScreenListener) => Screen {
  const streams = { input: process.stdin, output: process.stdout };
  const coloured = (listener: ScreenListener): ScreenListener => ({
    ...listener,
    onBackground: (ground) => {
      style.theme = themeOn(context, ground);
      listener.onResize();
    },
  });
  const { notifications = true, title = true } = context.loaded.configuration.tui ?? {};
  return (listener) =>
    isDumb(context)
      ? new PlainScreen(streams, listener)
      : new TerminalScreen(streams, coloured(listener), context.env, {
          notifies: notifications,
          titles: title,
        });
}

export function meterSettings({ loaded: { configuration } }: Context): MeterSettings {
  const windowOf = (model: string) => contextWindow(model, configuration.providers ?? {});
  return { ...ALL_METERS, ...given(configuration.tui?.meters ?? {}), windowOf };
}
