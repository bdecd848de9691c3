/* A reporter of StrykerJS for a terminal: the line that other long commands show too. */
import { relative } from 'node:path';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { startProgress } from '../../tools/progress.mjs';

class Line {
  onMutationTestingPlanReady({ mutantPlans }) {
    this.progress = startProgress(mutantPlans.length);
  }

  // A step is a mutant that was tested.
  onMutantTested({ fileName, location }) {
    this.progress.step(`${relative('.', fileName)}, line ${location.start.line}`);
  }

  wrapUp() {
    this.progress?.end();
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.Reporter, 'line', Line)];
